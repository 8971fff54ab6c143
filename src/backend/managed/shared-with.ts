import type { Caller } from '../../core/call.ts';
import { includesSession } from '../../core/managed/session-share.ts';
import type { SessionsPort } from '../../core/ports/sessions.ts';
import type { Book, KnownServer } from './book.ts';

/** Servers that a caller may know of: the agent of a session, those that are shared with it. */
export type SharedWith = (caller: Caller | undefined) => Promise<readonly KnownServer[]>;

export function createSharedWith(options: {
  book: Pick<Book, 'list'>;
  sessions: Pick<SessionsPort, 'get'>;
}): SharedWith {
  return async (caller) => {
    const servers = options.book.list();
    const { sessionId } = caller?.scope ?? {};
    if (caller?.surface !== 'agent' && sessionId === undefined) return servers;
    const session = sessionId === undefined ? undefined : await options.sessions.get(sessionId);
    return servers.filter(({ row: { name, config } }) => {
      const { sessions } = config ?? {};
      return includesSession(sessions === undefined ? { server: name } : { server: name, sessions }, session);
    });
  };
}
