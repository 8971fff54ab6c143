import type { Kysely } from 'kysely';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { FeedStore } from './store.ts';
import type { Writer } from './writer.ts';

export function createFeedStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): FeedStore {
  return {
    append: (body) => writer.write(async (_trx, announce) => announce(body)),
    tell: (body) => writer.tell({ ...body, at: runtime.now().toISOString() }),
    subscribe: writer.subscribe,

    since: async (id, limit) => {
      const rows = await db
        .selectFrom('feed')
        .selectAll()
        .where('feedId', '>', id)
        .orderBy('feedId')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...fromJson(row.body), id: row.feedId, at: row.at }));
    },

    bounds: async () => {
      const { oldest, newest } = await db
        .selectFrom('feed')
        .select((eb) => [eb.fn.min('feedId').as('oldest'), eb.fn.max('feedId').as('newest')])
        .executeTakeFirstOrThrow();
      return { oldest: oldest ?? 0, newest: newest ?? 0 };
    },
  };
}
