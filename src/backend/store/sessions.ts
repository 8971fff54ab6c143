import { type Kysely, sql, type SqlBool, type Transaction } from 'kysely';
import type { SessionFilter } from '../../core/ports/sessions.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Session } from '../../core/session.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import { readSession, searchTextOf, selectSessions, sessionNotFound, toSession } from './session-rows.ts';
import { below, isWithin, placeBelow, readLineage, requirePath, requireRoom } from './session-tree.ts';
import { revokeSessionTokens } from './session-tokens.ts';
import type { SessionStore } from './store.ts';
import { contains } from './text.ts';
import type { NoteRevoked, Writer } from './writer.ts';

const ORDER = {
  list: 'sessions',
  columns: { 'sessions.createdAt': 'string', 'sessions.sessionId': 'string' },
} as const;

const PREFIX = 'sess_';

export function createSessionStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): SessionStore {
  const now = () => runtime.now().toISOString();

  /** Changes one row, tells of it and answers it as it is then. */
  const change = (
    sessionId: string,
    work: (
      trx: Transaction<Schema>,
      before: Session,
      noteRevoked: NoteRevoked,
    ) => Promise<{ changed: boolean }>,
  ): Promise<Session> =>
    writer.write(async (trx, announce, noteRevoked) => {
      const before = await readSession(trx, sessionId);
      const { changed } = await work(trx, before, noteRevoked);
      if (!changed) return before;
      announce({ type: 'session.changed', sessionId });
      return readSession(trx, sessionId);
    });

  return {
    list: async (filter, page) => {
      let query = filtered(selectSessions(db), filter);
      if (filter.below !== undefined) query = query.where(below(await requirePath(db, filter.below)));
      return readPage(query, ORDER, page, toSession);
    },
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

    lineage: (sessionId) => readLineage(db, sessionId),
    isWithin: (sessionId, rootId) => isWithin(db, sessionId, rootId),

    setArchived: (sessionId, archived) =>
      change(sessionId, async (trx, before, noteRevoked) => {
        if (archived === (before.archivedAt !== undefined)) return { changed: false };
        const at = now();
        await trx
          .updateTable('sessions')
          .set({ archivedAt: archived ? at : null, archiveToldAt: null, updatedAt: at })
          .where('sessionId', '=', sessionId)
          .execute();
        if (archived) await revokeSessionTokens(trx, sessionId, at, noteRevoked);
        return { changed: true };
      }),

    archivedUntold: async (machineId) => {
      const rows = await db
        .selectFrom('sessions')
        .select('sessionId')
        .where('machineId', '=', machineId)
        .where('archivedAt', 'is not', null)
        .where('archiveToldAt', 'is', null)
        .orderBy('archivedAt')
        .orderBy('sessionId')
        .execute();
      return rows.map((row) => row.sessionId);
    },

    markArchiveTold: (sessionId, worktree) =>
      change(sessionId, async (trx, before) => {
        // Taken out of the archive meanwhile: the next archiving is another one.
        if (before.archivedAt === undefined) return { changed: false };
        await trx
          .updateTable('sessions')
          .set({ archiveToldAt: now(), ...(worktree === 'removed' ? { worktree: null } : {}) })
          .where('sessionId', '=', sessionId)
          .execute();
        return { changed: worktree === 'removed' && before.worktree !== undefined };
      }),

    insert: (session) =>
      writer.write(async (trx, announce) => {
        const at = now();
        const { title = null, modelId = null, tags = [], maxAtWork, ...rest } = session;
        const place = await placeBelow(trx, session.sessionId, session.parentSessionId);
        if (maxAtWork !== undefined) await requireRoom(trx, place.path, maxAtWork);
        await trx
          .insertInto('sessions')
          .values({
            ...rest,
            ...place,
            title,
            titleSource: title === null ? null : 'user',
            status: 'starting',
            modelId,
            models: toJson([]),
            tags: toJson(tags),
            additionalDirectories: toJson(session.additionalDirectories),
            environmentNames: toJson(session.environmentNames),
            mcpServers: toJson(session.mcpServers),
            startOptions: toJson(session.startOptions),
            forkedFrom: toJson(session.forkedFrom),
            searchText: searchTextOf(title, session.directory),
            lastSeq: 0,
            createdAt: at,
            updatedAt: at,
          })
          .execute();
        announce({ type: 'session.changed', sessionId: session.sessionId });
        return readSession(trx, session.sessionId);
      }),

    requireRoom: async (sessionId, max) => requireRoom(db, await requirePath(db, sessionId), max),

    failStart: async (sessionId, reason) => {
      await change(sessionId, async (trx, before, noteRevoked) => {
        if (before.status !== 'starting') return { changed: false };
        const at = now();
        await trx
          .updateTable('sessions')
          .set({ status: 'failed', failedAt: at, reason: toJson(reason), updatedAt: at })
          .where('sessionId', '=', sessionId)
          .execute();
        await revokeSessionTokens(trx, sessionId, at, noteRevoked);
        return { changed: true };
      });
    },

    dismissStart: async (sessionId) => {
      await change(sessionId, async (trx, { status, lastSeq }) => {
        if (status !== 'failed' || lastSeq > 1) return { changed: false };
        const { numUpdatedRows } = await trx
          .updateTable('sessions')
          .set({ failedAt: null })
          .where('sessionId', '=', sessionId)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('messages').select('messageId').where('sessionId', '=', sessionId))),
          )
          .executeTakeFirst();
        return { changed: numUpdatedRows > 0 };
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

    startOptionsOf: async (sessionId) => {
      const row = await db
        .selectFrom('sessions')
        .select('startOptions')
        .where('sessionId', '=', sessionId)
        .executeTakeFirst();
      if (row === undefined) throw sessionNotFound(sessionId);
      return fromJson(row.startOptions) ?? {};
    },
  };
}

function filtered(all: ReturnType<typeof selectSessions>, filter: SessionFilter) {
  let query = all;
  if (filter.status !== undefined) query = query.where('sessions.status', '=', filter.status);
  if (filter.machineId !== undefined) query = query.where('sessions.machineId', '=', filter.machineId);
  if (filter.agentId !== undefined) query = query.where('sessions.agentId', '=', filter.agentId);
  if (filter.query !== undefined) query = query.where(contains('sessions.searchText', filter.query));
  if (filter.parentSessionId !== undefined)
    query = query.where('sessions.parentSessionId', '=', filter.parentSessionId);
  if (filter.tag !== undefined) {
    // Whole, with its quotes, and letter by letter as it was given.
    const tag = JSON.stringify(filter.tag);
    query = query.where(
      sql<SqlBool>`replace(${sql.ref('sessions.tags')}, ${tag}, '') <> ${sql.ref('sessions.tags')}`,
    );
  }
  const archived = filter.archived ?? 'exclude';
  if (archived === 'include') return query;
  // Of a start that came to nothing, and that somebody was told of, there is nothing to see.
  if (archived === 'exclude' && filter.status === undefined)
    query = query.where((eb) =>
      eb.or([eb('sessions.status', '!=', sql.lit('failed')), eb('sessions.failedAt', 'is not', null)]),
    );
  return query.where('sessions.archivedAt', archived === 'only' ? 'is not' : 'is', null);
}
