import type { Kysely } from 'kysely';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import { MAX_SESSION_DEPTH, type Session } from '../../core/session.ts';
import type { Schema } from './schema.ts';
import { selectSessions, sessionArchived, sessionNotFound, toSession } from './session-rows.ts';

/**
 * The tree of sessions in paths: `root/child/itself/`. A whole subtree is then one range of an index, and a lineage is read
 * off a single row.
 */

async function pathOf(db: Kysely<Schema>, sessionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select('path')
    .where('sessionId', '=', sessionId)
    .executeTakeFirst();
  return row?.path;
}

/** Where a new session goes. @throws session_not_found | session_archived | session_too_deep */
export async function placeBelow(
  db: Kysely<Schema>,
  sessionId: string,
  parentSessionId: string | undefined,
): Promise<{ path: string; depth: number }> {
  if (parentSessionId === undefined) return { path: `${sessionId}/`, depth: 0 };
  const parent = await db
    .selectFrom('sessions')
    .select(['path', 'depth', 'archivedAt'])
    .where('sessionId', '=', parentSessionId)
    .executeTakeFirst();
  if (parent === undefined) throw sessionNotFound(parentSessionId);
  if (parent.archivedAt !== null) throw sessionArchived(parentSessionId, parent.archivedAt);
  const depth = parent.depth + 1;
  if (depth > MAX_SESSION_DEPTH) {
    throw new KaiwuError(
      'session_too_deep',
      `Session ${parentSessionId} is ${parent.depth} steps below its root; it cannot start a session below itself.`,
      {
        hint: `At most ${MAX_SESSION_DEPTH} steps: do the work in this session, or let one further up start it.`,
        details: { parentSessionId, depth: parent.depth, max: MAX_SESSION_DEPTH },
      },
    );
  }
  return { path: `${parent.path}${sessionId}/`, depth };
}

/** Sessions from the root down to one. @throws session_not_found */
export async function readLineage(db: Kysely<Schema>, sessionId: string): Promise<Session[]> {
  const path = await pathOf(db, sessionId);
  if (path === undefined) throw sessionNotFound(sessionId);
  const rows = await selectSessions(db)
    .where('sessions.sessionId', 'in', path.split('/').slice(0, -1))
    .orderBy('sessions.depth')
    .execute();
  return rows.map(toSession);
}

export async function isWithin(db: Kysely<Schema>, sessionId: string, rootId: string): Promise<boolean> {
  if (sessionId === rootId) return true;
  return (await pathOf(db, sessionId))?.split('/').includes(rootId) ?? false;
}

/** Rows strictly below a path, for a `where` on `sessions`. */
export const below = (path: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref('sessions.path')} > ${path} and ${sql.ref('sessions.path')} < ${`${path}\uffff`})`;

/** The same and the session itself. */
export const within = (path: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref('sessions.path')} >= ${path} and ${sql.ref('sessions.path')} < ${`${path}\uffff`})`;

/** Path of a session that a list is held to. @throws session_not_found */
export async function requirePath(db: Kysely<Schema>, sessionId: string): Promise<string> {
  const path = await pathOf(db, sessionId);
  if (path === undefined) throw sessionNotFound(sessionId);
  return path;
}

/** @throws rate_limited while `max` sessions of a root are at work: those with an agent, or with something to do */
export async function requireRoom(db: Kysely<Schema>, path: string, max: number): Promise<void> {
  const root = path.slice(0, path.indexOf('/') + 1);
  const { count } = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(within(root))
    .where('sessions.archivedAt', 'is', null)
    .where((eb) =>
      eb.or([
        eb('sessions.status', 'not in', ['stopped', 'failed']),
        eb.exists(
          eb
            .selectFrom('messages')
            .select('messages.messageId')
            .whereRef('messages.sessionId', '=', 'sessions.sessionId')
            .where('messages.status', 'in', ['queued', 'running']),
        ),
      ]),
    )
    .executeTakeFirstOrThrow();
  if (Number(count) < max) return;
  throw new KaiwuError(
    'rate_limited',
    `${count} sessions of ${root.slice(0, -1)} are at work already; an agent starts none beyond ${max}.`,
    { hint: 'Stop sessions that are done, or wait until some are.', details: { atWork: Number(count), max } },
  );
}
