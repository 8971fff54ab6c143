import type { ManagedOrigin } from '../spec.ts';
import type { Session } from '../session.ts';

/**
 * Whether a session may use a server's tools. The server's settings say which sessions get them: all where nothing is chosen, else
 * those of a chosen agent and those chosen. A session may itself have been given only some of the servers.
 * @param session undefined for a call of no session
 */
export function includesSession(
  { server, sessions }: Pick<ManagedOrigin, 'server' | 'sessions'>,
  session: Pick<Session, 'sessionId' | 'agentId' | 'mcpServers'> | undefined,
): boolean {
  if (session?.mcpServers?.includes(server) === false) return false;
  if (sessions === undefined || (sessions.agents === undefined && sessions.sessionIds === undefined))
    return true;
  if (session === undefined) return false;
  return (
    (sessions.agents?.includes(session.agentId) ?? false) ||
    (sessions.sessionIds?.includes(session.sessionId) ?? false)
  );
}
