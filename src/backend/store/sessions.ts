import type { Kysely, Transaction } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { SessionFilter } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Session } from '../../core/session.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import type { SessionStore } from './store.ts';
import { contains, fold } from './text.ts';
import type { Writer } from './writer.ts';

const ORDER = {
  list: 'sessions',
  columns: { 'sessions.createdAt': 'string', 'sessions.sessionId': 'string' },
} as const;

const PREFIX = 'sess_';

export const sessionNotFound = (sessionId: string): KaiwuError =>
  new KaiwuError('session_not_found', `No session ${JSON.stringify(sessionId.slice(0, 60))} is known.`, {
    hint: 'List the sessions to find its id.',
  });

/** Text of a session that people search for. */
export const searchTextOf = (title: string | null, directory: string): string =>
  fold(`${title ?? ''}\n${directory}`);

const selectSessions = (db: Kysely<Schema>) =>
  db
    .selectFrom('sessions')
    .leftJoin('machines', 'machines.machineId', 'sessions.machineId')
    .select([
      'sessions.sessionId',
      'sessions.title',
      'sessions.titleSource',
      'sessions.status',
      'sessions.agentId',
      'sessions.machineId',
      'sessions.directory',
      'sessions.permissionMode',
      'sessions.modelId',
      'sessions.createdAt',
      'sessions.updatedAt',
      'sessions.archivedAt',
      'sessions.lastSeq',
      'sessions.reason',
      'sessions.permission',
      'machines.offlineSince as machineOfflineSince',
    ]);

type SessionRow = Awaited<ReturnType<ReturnType<typeof selectSessions>['executeTakeFirstOrThrow']>>;

const toSession = (row: SessionRow): Session =>
  withoutNulls({
    ...row,
    reason: fromJson(row.reason),
    permission: fromJson(row.permission),
  });

async function readSession(db: Kysely<Schema>, sessionId: string): Promise<Session> {
  const row = await selectSessions(db).where('sessions.sessionId', '=', sessionId).executeTakeFirst();
  if (row === undefined) throw sessionNotFound(sessionId);
  return toSession(row);
}

export function createSessionStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): SessionStore {
  const now = () => runtime.now().toISOString();

  /** Changes one row, tells of it and answers it as it is then. */
  const change = (
    sessionId: string,
    work: (trx: Transaction<Schema>, before: Session) => Promise<{ changed: boolean }>,
  ): Promise<Session> =>
    writer.write(async (trx, announce) => {
      const before = await readSession(trx, sessionId);
      const { changed } = await work(trx, before);
      if (!changed) return before;
      announce({ type: 'session.changed', sessionId });
      return readSession(trx, sessionId);
    });

  return {
    list: async (filter, page) => readPage(filtered(selectSessions(db), filter), ORDER, page, toSession),
    get: (sessionId) => readSession(db, sessionId),

    findByPrefix: async (prefix, limit) => {
      const bare = prefix.startsWith(PREFIX) ? prefix.slice(PREFIX.length) : prefix;
      // Nothing is no prefix: it would pick the only session there is.
      if (bare === '') return [];
      const from = PREFIX + bare;
      const rows = await selectSessions(db)
        .where('sessions.sessionId', '>=', from)
        .where('sessions.sessionId', '<', `${from}\uffff`)
        .orderBy('sessions.sessionId')
        .limit(limit)
        .execute();
      // An exact id sorts before all that it is a prefix of.
      return rows[0]?.sessionId === from ? [toSession(rows[0])] : rows.map(toSession);
    },

    setTitle: (sessionId, title) =>
      change(sessionId, async (trx, before) => {
        const searchText = searchTextOf(title, before.directory);
        await trx
          .updateTable('sessions')
          .set({ title, titleSource: 'user', searchText, updatedAt: now() })
          .where('sessionId', '=', sessionId)
          .execute();
        return { changed: true };
      }),

    setArchived: (sessionId, archived) =>
      change(sessionId, async (trx, before) => {
        if (archived === (before.archivedAt !== undefined)) return { changed: false };
        const at = now();
        await trx
          .updateTable('sessions')
          .set({ archivedAt: archived ? at : null, updatedAt: at })
          .where('sessionId', '=', sessionId)
          .execute();
        return { changed: true };
      }),

    insert: (session) =>
      writer.write(async (trx, announce) => {
        const at = now();
        const { title = null, modelId = null, ...rest } = session;
        await trx
          .insertInto('sessions')
          .values({
            ...rest,
            title,
            titleSource: title === null ? null : 'user',
            status: 'starting',
            modelId,
            models: toJson([]),
            searchText: searchTextOf(title, session.directory),
            lastSeq: 0,
            createdAt: at,
            updatedAt: at,
          })
          .execute();
        announce({ type: 'session.changed', sessionId: session.sessionId });
        return readSession(trx, session.sessionId);
      }),

    failStart: async (sessionId, reason) => {
      await change(sessionId, async (trx, before) => {
        if (before.status !== 'starting') return { changed: false };
        await trx
          .updateTable('sessions')
          .set({ status: 'failed', reason: toJson(reason), updatedAt: now() })
          .where('sessionId', '=', sessionId)
          .execute();
        return { changed: true };
      });
    },

    ofMachine: async (machineId) => {
      const rows = await selectSessions(db)
        .where('sessions.machineId', '=', machineId)
        .where('sessions.archivedAt', 'is', null)
        .orderBy('sessions.createdAt')
        .orderBy('sessions.sessionId')
        .execute();
      return rows.map(toSession);
    },

    modelsOf: async (sessionId) => {
      const row = await db
        .selectFrom('sessions')
        .select('models')
        .where('sessionId', '=', sessionId)
        .executeTakeFirst();
      if (row === undefined) throw sessionNotFound(sessionId);
      return fromJson(row.models);
    },
  };
}

function filtered(all: ReturnType<typeof selectSessions>, filter: SessionFilter) {
  let query = all;
  if (filter.status !== undefined) query = query.where('sessions.status', '=', filter.status);
  if (filter.machineId !== undefined) query = query.where('sessions.machineId', '=', filter.machineId);
  if (filter.agentId !== undefined) query = query.where('sessions.agentId', '=', filter.agentId);
  if (filter.query !== undefined) query = query.where(contains('sessions.searchText', filter.query));
  const archived = filter.archived ?? 'exclude';
  if (archived === 'include') return query;
  return query.where('sessions.archivedAt', archived === 'only' ? 'is not' : 'is', null);
}
