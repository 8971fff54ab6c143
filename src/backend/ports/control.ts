import type { SessionControlPort } from '../../core/ports/sessions.ts';
import type { BackendStore } from '../store/store.ts';
import type { Archives } from '../work/archives.ts';
import { createAnswers } from './answers.ts';
import type { AskMachine } from './ask-machine.ts';
import { createSetConfigOption } from './config-options.ts';
import { refuseRaise } from './escalation.ts';
import { getOpen } from './get-open.ts';

export function createSessionControl(options: {
  store: BackendStore;
  ask: AskMachine;
  archives: Archives;
  spawn: SessionControlPort['spawn'];
  fork: SessionControlPort['fork'];
}): SessionControlPort {
  const { store, ask, archives } = options;
  const { sessions, messages } = store;

  return {
    spawn: options.spawn,

    async interrupt(sessionId, caller) {
      const { machineId } = await sessions.get(sessionId);
      return ask(machineId, 'session.interrupt', { sessionId }, caller);
    },

    async stop(sessionId, caller) {
      await messages.cancelUndelivered(sessionId, {
        code: 'canceled',
        message: 'the session was stopped before this message was delivered',
      });
      const session = await sessions.get(sessionId);
      const over = session.status === 'stopped' || session.status === 'failed';
      if (over && !(await messages.hasOpen(sessionId))) return session;
      await ask(session.machineId, 'session.stop', { sessionId }, caller);
      return sessions.get(sessionId);
    },

    async setModel(sessionId, modelId, caller) {
      const { machineId } = await getOpen(sessions, sessionId);
      await ask(machineId, 'session.set_model', { sessionId, modelId }, caller);
      return sessions.get(sessionId);
    },

    async setPermissionMode(sessionId, permissionMode, caller) {
      const session = await getOpen(sessions, sessionId);
      refuseRaise(caller, permissionMode, session.permissionMode, sessionId);
      await ask(session.machineId, 'session.set_mode', { sessionId, permissionMode }, caller);
      return sessions.get(sessionId);
    },

    ...createAnswers({ sessions, ask }),
    setConfigOption: createSetConfigOption({ sessions, ask }),
    fork: options.fork,

    async archive(sessionId) {
      const told = await archives.tell(await sessions.setArchived(sessionId, true));
      return { session: await sessions.get(sessionId), ...told };
    },
  };
}
