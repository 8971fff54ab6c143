import type { ManagedOrigin } from '../spec.ts';
import type { Session } from '../session.ts';

/** Whether a session gets a server's tools: all do where nothing is chosen, else those of a chosen agent and those chosen. */
export function includesSession(
  sessions: ManagedOrigin['sessions'],
  session: Pick<Session, 'sessionId' | 'agentId'> | undefined,
): boolean {
  if (sessions === undefined || (sessions.agents === undefined && sessions.sessionIds === undefined))
    return true;
  if (session === undefined) return false;
  return (
    (sessions.agents?.includes(session.agentId) ?? false) ||
    (sessions.sessionIds?.includes(session.sessionId) ?? false)
  );
}
