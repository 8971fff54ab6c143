import { KaiwuError } from '../../core/errors.ts';
import type { SessionEventBody } from '../../core/session.ts';
import { endGroup } from '../../process/group.ts';
import type { Journal } from '../journal/journal.ts';
import type { StoredSession } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';
import { isParked } from './parked.ts';
import { toTurnEnd, toUnknownEnds } from './turn-end.ts';
import { undoWorkspace } from './workspace.ts';

/**
 * Settles what a daemon before this one left when it ended: ends its agents and says in each transcript what happened.
 * A message whose turn had begun is never run again, because nobody knows how far it got. Only a turn that waits for a
 * person is left as it is, where its agent can come back to it: until the answer, nothing of it happens.
 */
export async function recoverSession(context: SessionContext, session: StoredSession): Promise<void> {
  const { journal, log, limits } = context;
  const { sessionId, agentPid, agentStartTime } = session;
  if (agentPid !== undefined) {
    const isOurs = agentStartTime !== undefined && context.startTime(agentPid) === agentStartTime;
    if (isOurs) {
      log.warn({ sessionId, pid: agentPid }, 'ending an agent that an earlier daemon left behind');
      await endGroup(agentPid, limits.graces.termMs);
    }
  }
  await undoWorkspace(context, sessionId);
  journal.transaction(() => {
    journal.setProcess(sessionId, undefined);
    const message = journal.running(sessionId);
    const events =
      message !== undefined && isParked(session, message)
        ? toUnknownEnds(journal, sessionId)
        : [...toTurnEvents(journal, session, message?.messageId), ...toStop(session, message !== undefined)];
    journal.append(sessionId, events);
  });
}

const toMessage = (what: string): string => `the daemon restarted ${what}`;

function toTurnEvents(journal: Journal, session: StoredSession, messageId: string | undefined) {
  const { sessionId, permission, question } = session;
  const open = permission?.title ?? question?.message;
  const waited =
    open === undefined
      ? 'during this turn; how far the agent got is not known, and it was not run again'
      : `while this turn waited for an answer to ${JSON.stringify(open.slice(0, 500))}, and this agent cannot come back to it`;
  if (messageId === undefined) return toUnknownEnds(journal, sessionId);
  const error = new KaiwuError('agent_failed', toMessage(waited));
  return toTurnEnd({ journal, sessionId, messageId, result: { error } });
}

function toStop({ status }: StoredSession, wasRunning: boolean): SessionEventBody[] {
  if (status === 'stopped' || status === 'failed') return [];
  const when = wasRunning
    ? 'during a turn; the next message starts the agent again'
    : status === 'starting'
      ? 'while the agent was starting'
      : 'while the agent was idle; the next message starts it again';
  // Only what was at work has failed.
  const code = wasRunning ? 'agent_failed' : 'daemon_not_running';
  return [{ type: 'session_stopped', reason: { code, message: toMessage(when) } }];
}
