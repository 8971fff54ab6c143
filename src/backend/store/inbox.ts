import type { Kysely } from 'kysely';
import { sql, type SqlBool } from 'kysely';
import { type CursorKey, fromCursor, type PageRequest, toCursor } from '../../core/page.ts';
import { INBOX_KINDS, type InboxKind } from '../../core/ports/inbox.ts';
import { APPROVAL_COLUMNS, toApproval } from './approvals.ts';
import type { Schema } from './schema.ts';
import { selectSessions, toSession } from './session-rows.ts';
import { requirePath, within } from './session-tree.ts';
import type { InboxRow, InboxStore } from './store.ts';

const LIST = 'inbox';

/** Column that holds since when a session waits for each reason. */
const SINCE = {
  permission: 'permissionAt',
  question: 'questionAt',
  failed: 'failedAt',
  stalled: 'stalledSince',
} as const satisfies Record<Exclude<InboxKind, 'approval'>, keyof Schema['sessions']>;

/** A row, its place in the order, and the session that asks. */
interface Found extends Omit<InboxRow, 'lineage'> {
  id: string;
  asking?: string;
}

interface Range {
  path?: string;
  after?: CursorKey;
  /** One more than a page, to tell whether there is another. */
  limit: number;
  now: string;
}

/** Merges what waits from every table that knows of it. Each gives its newest rows after the cursor, so a page costs the same anywhere. */
export function createInboxStore(db: Kysely<Schema>): InboxStore {
  return {
    list: async ({ kind, sessionId, now }, { limit, cursor }: PageRequest) => {
      const range: Range = {
        limit: limit + 1,
        now,
        ...(sessionId === undefined ? {} : { path: await requirePath(db, sessionId) }),
        ...(cursor === undefined ? {} : { after: fromCursor(LIST, cursor, ['string', 'string', 'string']) }),
      };
      const kinds = INBOX_KINDS.filter((one) => kind === undefined || one === kind);
      const found: Found[] = [];
      for (const one of kinds) {
        found.push(...(one === 'approval' ? await approvals(db, range) : await sessions(db, one, range)));
      }
      const sorted = found.toSorted((a, b) => (isBefore(keyOf(b), keyOf(a)) ? -1 : 1));
      const items = sorted.slice(0, limit);
      const last = items.at(-1);
      return {
        items: await withLineage(db, items),
        ...(sorted.length > limit && last !== undefined ? { nextCursor: toCursor(LIST, keyOf(last)) } : {}),
      };
    },
  };
}

const keyOf = ({ at, kind, id }: Found): [string, string, string] => [at, kind, id];

const isBefore = (a: string[], b: string[]): boolean => {
  const i = a.findIndex((part, index) => part !== b[index]);
  return i >= 0 && (a[i] ?? '') < (b[i] ?? '');
};

/** Rows behind the cursor, in the order of all kinds together. */
const after = (at: string, kind: InboxKind, id: string, key: CursorKey) =>
  sql<SqlBool>`${sql.ref(at)} <= ${key[0]} and (${sql.ref(at)}, ${sql.lit(kind)}, ${sql.ref(id)}) < (${sql.join(key)})`;

async function sessions(
  db: Kysely<Schema>,
  kind: keyof typeof SINCE,
  { path, after: key, limit }: Range,
): Promise<Found[]> {
  const column = `sessions.${SINCE[kind]}` as const;
  let query = selectSessions(db)
    .select(`${column} as since`)
    .where(column, 'is not', null)
    .where('sessions.archivedAt', 'is', null)
    .orderBy(column, 'desc')
    .orderBy('sessions.sessionId', 'desc')
    .limit(limit);
  if (path !== undefined) query = query.where(within(path));
  if (key !== undefined) query = query.where(after(column, kind, 'sessions.sessionId', key));
  return (await query.execute()).map(({ since, ...row }) => ({
    kind,
    at: since ?? row.updatedAt,
    id: row.sessionId,
    asking: row.sessionId,
    session: toSession(row),
  }));
}

async function approvals(db: Kysely<Schema>, { path, after: key, limit, now }: Range): Promise<Found[]> {
  let query = db
    .selectFrom('approvals')
    .leftJoin('sessions', 'sessions.sessionId', 'approvals.askingSessionId')
    .select([...APPROVAL_COLUMNS.map((name) => `approvals.${name}` as const), 'sessions.sessionId as asking'])
    // Written out, so that the index of the pending ones can be used.
    .where('approvals.status', '=', sql.lit('pending'))
    .where('approvals.expiresAt', '>', now)
    // Those are between a voice and the person who speaks.
    .where('approvals.confirmation', 'is', null)
    .orderBy('approvals.createdAt', 'desc')
    .orderBy('approvals.artifactId', 'desc')
    .limit(limit);
  if (path !== undefined) query = query.where(within(path));
  if (key !== undefined)
    query = query.where(after('approvals.createdAt', 'approval', 'approvals.artifactId', key));
  return (await query.execute()).map(({ asking, ...row }) => ({
    kind: 'approval' as const,
    at: row.createdAt,
    id: row.artifactId,
    ...(asking === null ? {} : { asking }),
    approval: toApproval(row),
  }));
}

/** All lineages of a page in two reads. */
async function withLineage(db: Kysely<Schema>, items: Found[]): Promise<InboxRow[]> {
  const asking = [...new Set(items.flatMap((item) => item.asking ?? []))];
  if (asking.length === 0) return items.map((item) => toRow(item, []));
  const paths = await db
    .selectFrom('sessions')
    .select(['sessionId', 'path'])
    .where('sessionId', 'in', asking)
    .execute();
  const chains = new Map(paths.map(({ sessionId, path }) => [sessionId, path.split('/').slice(0, -1)]));
  const titles = await db
    .selectFrom('sessions')
    .select(['sessionId', 'title'])
    .where('sessionId', 'in', [...new Set([...chains.values()].flat())])
    .execute();
  const titleOf = new Map(titles.map(({ sessionId, title }) => [sessionId, title]));
  return items.map((item) =>
    toRow(
      item,
      (chains.get(item.asking ?? '') ?? []).map((sessionId) => {
        const title = titleOf.get(sessionId) ?? undefined;
        return title === undefined ? { sessionId } : { sessionId, title };
      }),
    ),
  );
}

const toRow = ({ kind, at, session, approval }: Found, lineage: InboxRow['lineage']): InboxRow => ({
  kind,
  at,
  ...(session === undefined ? {} : { session }),
  ...(approval === undefined ? {} : { approval }),
  lineage,
});
