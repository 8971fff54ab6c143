import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { SessionControlPort } from '../../core/ports/sessions.ts';
import type { PermissionOption, PermissionRequest } from '../../core/session.ts';
import type { BackendStore } from '../store/store.ts';
import type { AskMachine } from './ask-machine.ts';
import { isAgent, refuseRaise } from './escalation.ts';

type Answer = Parameters<SessionControlPort['answerPermission']>[1];

/** Kinds of option that a decision may take, best first. `allow` never becomes a lasting one. */
const KINDS: Record<NonNullable<Answer['decision']>, PermissionOption['kind'][]> = {
  allow: ['allow_once'],
  allow_always: ['allow_always'],
  deny: ['reject_once', 'reject_always'],
};

export function createSessionControl(options: {
  store: BackendStore;
  ask: AskMachine;
  spawn: SessionControlPort['spawn'];
}): SessionControlPort {
  const { store, ask } = options;
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
      const { machineId } = await sessions.get(sessionId);
      await ask(machineId, 'session.set_model', { sessionId, modelId }, caller);
      return sessions.get(sessionId);
    },

    async setPermissionMode(sessionId, permissionMode, caller) {
      const session = await sessions.get(sessionId);
      refuseRaise(caller, permissionMode, session.permissionMode, sessionId);
      await ask(session.machineId, 'session.set_mode', { sessionId, permissionMode }, caller);
      return sessions.get(sessionId);
    },

    async answerPermission(sessionId, answer, caller) {
      refuseAgent(caller);
      const session = await sessions.get(sessionId);
      const open = requireOpen(sessionId, session.permission, answer.requestId);
      const optionId = chooseOption(open, answer);
      const params = { sessionId, requestId: open.requestId, by: caller.client };
      await ask(
        session.machineId,
        'session.answer',
        optionId === undefined ? params : { ...params, optionId },
        caller,
      );
      return sessions.get(sessionId);
    },
  };
}

function refuseAgent(caller: Caller): void {
  if (!isAgent(caller)) return;
  throw new KaiwuError('permission_escalation_denied', 'An agent cannot answer a permission request.', {
    hint: 'A person can, from the app or the CLI.',
  });
}

function requireOpen(
  sessionId: string,
  open: PermissionRequest | undefined,
  requestId: string | undefined,
): PermissionRequest {
  if (open === undefined) {
    throw new KaiwuError('conflict', `Session ${sessionId} has no open permission request.`, {
      hint: 'It was answered or its turn has ended; the transcript says which.',
    });
  }
  if (requestId !== undefined && requestId !== open.requestId) {
    throw new KaiwuError('conflict', `Permission request ${requestId} of session ${sessionId} is not open.`, {
      hint: `The open one is ${open.requestId}: ${open.title}.`,
      details: { openRequestId: open.requestId },
    });
  }
  return open;
}

/** Undefined refuses without an option of the agent's own. */
function chooseOption(open: PermissionRequest, answer: Answer): string | undefined {
  const offered = open.options.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
  const wrong = (path: string, message: string) =>
    new KaiwuError('invalid_input', `${path} ${message}.`, {
      hint: `Options: ${offered.map((option) => `${option.optionId} (${option.kind})`).join(', ') || 'none'}.`,
      details: { issues: [{ path, message }], options: offered },
    });
  if (answer.optionId !== undefined) {
    if (offered.some((option) => option.optionId === answer.optionId)) return answer.optionId;
    throw wrong('optionId', `is none of the request's options: ${answer.optionId}`);
  }
  if (answer.decision === undefined) throw wrong('decision', 'is needed where no optionId is given');
  for (const kind of KINDS[answer.decision]) {
    const option = offered.find((each) => each.kind === kind);
    if (option !== undefined) return option.optionId;
  }
  if (answer.decision === 'deny') return undefined;
  throw wrong('decision', `${answer.decision} is none of the request's options`);
}
