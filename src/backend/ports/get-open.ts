import type { Session } from '../../core/session.ts';
import { sessionArchived } from '../store/session-rows.ts';
import type { SessionStore } from '../store/store.ts';

/** A session that can be changed. @throws session_not_found | session_archived */
export async function getOpen(sessions: Pick<SessionStore, 'get'>, sessionId: string): Promise<Session> {
  const session = await sessions.get(sessionId);
  if (session.archivedAt !== undefined) throw sessionArchived(sessionId, session.archivedAt);
  return session;
}
