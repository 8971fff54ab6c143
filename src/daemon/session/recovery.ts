import type { FailureReason, SessionEventBody } from '../../core/session.ts';
import { endGroup } from '../acp/group.ts';
import type { StoredSession } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';

/**
 * Settles what a daemon before this one left when it died: ends its agents and says in each transcript what happened.
 * A message whose turn had begun is never run again, because nobody knows how far it got.
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
  journal.transaction(() => {
    journal.setProcess(sessionId, undefined);
    const events = toEvents(session, journal.running(sessionId)?.messageId);
    journal.append(sessionId, events);
  });
}

const reason = (what: string): FailureReason => ({
  code: 'agent_failed',
  message: `the daemon restarted ${what}`,
});

function toEvents({ status }: StoredSession, messageId: string | undefined): SessionEventBody[] {
  const ended: SessionEventBody[] =
    messageId === undefined
      ? []
      : [
          {
            type: 'turn_ended',
            messageId,
            outcome: 'failed',
            reason: reason('during this turn; how far the agent got is not known, and it was not run again'),
          },
        ];
  if (status === 'stopped' || status === 'failed') return ended;
  const when =
    messageId !== undefined
      ? 'during a turn; the next message starts the agent again'
      : status === 'starting'
        ? 'while the agent was starting'
        : 'while the agent was idle; the next message starts it again';
  return [...ended, { type: 'session_stopped', reason: reason(when) }];
}
