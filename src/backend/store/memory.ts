import { type ExpressionBuilder, type Kysely, sql, type Transaction } from 'kysely';
import { fromCursor, type Page, type PageRequest, toCursor } from '../../core/page.ts';
import type { MemoryFilter, MemoryHit, MemoryItem } from '../../core/ports/memory.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { matches, type NewMemory, toItem, toRow } from './memory-rows.ts';
import type { MemoryWords } from './memory-words.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

/** A turn that has ended well, and is to be remembered. */
export interface FinishedTurn {
  messageId: string;
  sessionId: string;
  text: string;
  reply: string;
  endedAt: string;
}

export interface MemoryStore {
  /** All of them or none. What a document held before is taken away with it. */
  add(
    items: NewMemory[],
    replaces?: { file_path: string; workspace?: string },
  ): Promise<{ items: MemoryItem[]; replaced: number }>;
  list(filter: MemoryFilter, page: PageRequest): Promise<Page<MemoryItem>>;
  /** By words. Places stay right while items are added. @throws invalid_input for a cursor of another list */
  search(text: string, filter: MemoryFilter, page: PageRequest): Promise<Page<MemoryHit>>;
  get(ids: string[]): Promise<MemoryItem[]>;
  /** Deletes and overwrites. @returns those that were there */
  remove(ids: string[]): Promise<string[]>;
  count(): Promise<number>;
  /** Finished turns since `since` of which nothing is remembered, oldest first. */
  turnsToRemember(since: string, limit: number): Promise<FinishedTurn[]>;
  setVectors(model: string, vectors: { id: string; vector: number[] }[]): Promise<void>;
  /** Items without a vector of the model, oldest first. */
  withoutVector(model: string, limit: number): Promise<Pick<MemoryItem, 'id' | 'text'>[]>;
  vectors(model: string, filter: MemoryFilter, limit: number): Promise<{ id: string; vector: number[] }[]>;
}

const ORDER = { list: 'memory', columns: { createdAt: 'string', itemId: 'string' } } as const;
const SEARCH = 'memory-search';

/** Passages that a query is weighed over, whatever page is asked for. */
const MAX_FOUND = 2000;

/** How much of the score age takes: a passage a month old keeps nine tenths. */
const AGE_SHARE = 0.1;
const MONTH_MS = 30 * 86_400_000;

export function createMemoryStore(
  db: Kysely<Schema>,
  writer: Writer,
  runtime: Runtime,
  words: MemoryWords,
): MemoryStore {
  async function removeRows(trx: Transaction<Schema>, rows: { ordinal: number; itemId: string }[]) {
    if (rows.length === 0) return;
    const ids = rows.map(({ itemId }) => itemId);
    await words.remove(
      trx,
      rows.map(({ ordinal }) => ordinal),
    );
    await trx.deleteFrom('memoryVectors').where('itemId', 'in', ids).execute();
    await trx.deleteFrom('memoryItems').where('itemId', 'in', ids).execute();
  }

  return {
    async add(items, replaces) {
      const done = await writer.write(async (trx) => {
        const now = runtime.now().toISOString();
        let replaced = 0;
        if (replaces !== undefined) {
          const before = await trx
            .selectFrom('memoryItems')
            .select(['ordinal', 'itemId'])
            .where('kind', '=', 'document')
            .where('filePath', '=', replaces.file_path)
            .where('workspace', replaces.workspace === undefined ? 'is' : '=', replaces.workspace ?? null)
            .execute();
          await removeRows(trx, before);
          replaced = before.length;
        }
        const added: MemoryItem[] = [];
        for (const item of items) {
          const row = toRow(item, runtime.newId('mem'), now);
          const { ordinal } = await trx
            .insertInto('memoryItems')
            .values(row)
            .returning('ordinal')
            .executeTakeFirstOrThrow();
          await words.add(trx, ordinal, item.text);
          added.push(toItem({ ...row, ordinal }));
        }
        return { items: added, replaced };
      });
      if (done.replaced > 0) await words.wipe(db);
      return done;
    },

    list: (filter, page) =>
      readPage(
        db
          .selectFrom('memoryItems')
          .selectAll()
          .where((eb) => matches(eb, filter)),
        ORDER,
        page,
        toItem,
      ),

    async search(text, filter, { limit, cursor }) {
      const [upTo, skip] =
        cursor === undefined
          ? [await newestOrdinal(db), 0]
          : (fromCursor(SEARCH, cursor, ['number', 'number']) as [number, number]);
      const found = await words.search(db, text, { upTo, limit: MAX_FOUND });
      const scores = new Map(found.map(({ ordinal, score }) => [ordinal, score]));
      const rows = await inParts([...scores.keys()], (ordinals) =>
        db
          .selectFrom('memoryItems')
          .selectAll()
          .where('ordinal', 'in', ordinals)
          .where((eb) => matches(eb, filter))
          .execute(),
      );
      const now = runtime.now().getTime();
      const hits = rows
        .map((row) => ({
          ordinal: row.ordinal,
          hit: {
            ...toItem(row),
            score: round(scores.get(row.ordinal)! * freshness(now, row.observedAt)),
          },
        }))
        .toSorted((a, b) => b.hit.score - a.hit.score || b.ordinal - a.ordinal);
      const items: MemoryHit[] = hits.slice(skip, skip + limit).map(({ hit }) => hit);
      const next = skip + items.length;
      return { items, ...(next < hits.length ? { nextCursor: toCursor(SEARCH, [upTo, next]) } : {}) };
    },

    get: async (ids) =>
      (
        await inParts(ids, (part) =>
          db.selectFrom('memoryItems').selectAll().where('itemId', 'in', part).execute(),
        )
      ).map(toItem),

    async remove(ids) {
      const removed = await writer.write(async (trx) => {
        const rows = await trx
          .selectFrom('memoryItems')
          .select(['ordinal', 'itemId'])
          .where('itemId', 'in', ids)
          .execute();
        await removeRows(trx, rows);
        return rows.map(({ itemId }) => itemId);
      });
      if (removed.length > 0) await words.wipe(db);
      return removed;
    },

    async count() {
      const { count } = await db
        .selectFrom('memoryItems')
        .select((eb) => eb.fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async turnsToRemember(since, limit) {
      const rows = await db
        .selectFrom('messages')
        .select(['messageId', 'sessionId', 'text', 'reply', 'createdAt'])
        .where('status', '=', 'completed')
        .where('createdAt', '>=', since)
        .where('reply', 'is not', null)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('memoryItems')
                .select('memoryItems.ordinal')
                .whereRef('memoryItems.messageId', '=', 'messages.messageId'),
            ),
          ),
        )
        .orderBy('ordinal')
        .limit(limit)
        .execute();
      return rows.map(({ text, reply, createdAt, ...row }) => ({
        ...row,
        text: fromJson(text),
        reply: fromJson(reply) ?? '',
        endedAt: createdAt,
      }));
    },

    setVectors: (model, vectors) =>
      writer.write(async (trx) => {
        for (const { id, vector } of vectors) {
          const row = { model, vector: toJson(vector) };
          await trx
            .insertInto('memoryVectors')
            .columns(['itemId', 'model', 'vector'])
            // Of an item that was forgotten meanwhile nothing is kept.
            .expression((eb) =>
              eb
                .selectFrom('memoryItems')
                .select(['itemId', sql.val(model).as('model'), sql.val(row.vector).as('vector')])
                .where('itemId', '=', id),
            )
            .onConflict((conflict) => conflict.column('itemId').doUpdateSet(row))
            .execute();
        }
      }),

    async withoutVector(model, limit) {
      const rows = await db
        .selectFrom('memoryItems')
        .leftJoin('memoryVectors', (join) =>
          join.onRef('memoryVectors.itemId', '=', 'memoryItems.itemId').on('memoryVectors.model', '=', model),
        )
        .select(['memoryItems.itemId as id', 'memoryItems.text'])
        .where('memoryVectors.itemId', 'is', null)
        .orderBy('memoryItems.ordinal')
        .limit(limit)
        .execute();
      return rows.map(({ id, text }) => ({ id, text: fromJson(text) }));
    },

    async vectors(model, filter, limit) {
      const rows = await db
        .selectFrom('memoryItems')
        .innerJoin('memoryVectors', 'memoryVectors.itemId', 'memoryItems.itemId')
        .select(['memoryItems.itemId as id', 'memoryVectors.vector'])
        .where('memoryVectors.model', '=', model)
        .where((eb) => matches(eb as unknown as ExpressionBuilder<Schema, 'memoryItems'>, filter))
        .orderBy('memoryItems.ordinal', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ id, vector }) => ({ id, vector: fromJson(vector) }));
    },
  };
}

const newestOrdinal = async (db: Kysely<Schema>): Promise<number> => {
  const { newest } = await db
    .selectFrom('memoryItems')
    .select((eb) => eb.fn.max('ordinal').as('newest'))
    .executeTakeFirstOrThrow();
  return Number(newest ?? 0);
};

const freshness = (nowMs: number, observedAt: string): number => {
  const months = Math.max(0, nowMs - Date.parse(observedAt)) / MONTH_MS;
  return 1 - AGE_SHARE + AGE_SHARE / (1 + months);
};

const round = (score: number): number => Math.round(score * 1e6) / 1e6;

/** Databases bound the number of values in one statement. */
async function inParts<K, T>(keys: K[], read: (part: K[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < keys.length; i += 500) all.push(...(await read(keys.slice(i, i + 500))));
  return all;
}
