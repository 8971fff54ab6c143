import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { MessagesPort, SessionControlPort } from '../../core/ports/sessions.ts';
import type { BackendStore } from '../store/store.ts';
import { isAgent } from './escalation.ts';

/**
 * A run that a person or a host started beside a session is theirs: the agent of that session may read it, and neither end it nor
 * talk to whoever reviews its work. @throws forbidden
 */
export function refuseRunOfOthers(runId: string, requester: Caller | undefined, caller: Caller): void {
  if (!isAgent(caller) || caller.approved === true) return;
  if (requester === undefined || isAgent(requester)) return;
  throw new KaiwuError('forbidden', `Run ${runId} was started by ${requester.client} and not by an agent.`, {
    hint: 'An agent reads such a run and waits for it. It changes the runs that agents started.',
  });
}

/** The same for the session that carries the run out. Its own agent is not kept from itself. */
export function keepRunsOfOthers(
  store: Pick<BackendStore, 'sessions' | 'runs'>,
  ports: { control: SessionControlPort; messages: MessagesPort },
): { control: SessionControlPort; messages: MessagesPort } {
  const { control, messages } = ports;
  const check = async (sessionId: string, caller: Caller): Promise<void> => {
    if (!isAgent(caller) || caller.scope.sessionId === sessionId) return;
    const { runId } = await store.sessions.get(sessionId);
    if (runId !== undefined) refuseRunOfOthers(runId, (await store.runs.get(runId))?.requester, caller);
  };
  return {
    control: {
      ...control,
      async interrupt(sessionId, caller) {
        await check(sessionId, caller);
        return control.interrupt(sessionId, caller);
      },
      async stop(sessionId, caller) {
        await check(sessionId, caller);
        return control.stop(sessionId, caller);
      },
      async archive(sessionId, caller) {
        await check(sessionId, caller);
        return control.archive(sessionId, caller);
      },
      async setModel(sessionId, modelId, caller) {
        await check(sessionId, caller);
        return control.setModel(sessionId, modelId, caller);
      },
      async setPermissionMode(sessionId, mode, caller) {
        await check(sessionId, caller);
        return control.setPermissionMode(sessionId, mode, caller);
      },
    },
    messages: {
      ...messages,
      async send(request, caller) {
        await check(request.sessionId, caller);
        return messages.send(request, caller);
      },
    },
  };
}
