import type { Kysely } from 'kysely';
import type { IdempotencyStore, Runtime } from '../../core/ports/stores.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';

/** Milliseconds that a key is remembered, and how often older ones are removed, in milliseconds. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;
const PRUNE_EVERY_MS = 60 * 60 * 1000;

export function createIdempotencyStore(db: Kysely<Schema>, runtime: Runtime): IdempotencyStore {
  let prunedMs = Number.NEGATIVE_INFINITY;

  const prune = async (trx: Kysely<Schema>): Promise<void> => {
    const now = runtime.monotonicMs();
    if (now - prunedMs < PRUNE_EVERY_MS) return;
    prunedMs = now;
    const old = new Date(runtime.now().getTime() - KEEP_MS).toISOString();
    await trx.deleteFrom('idempotency').where('createdAt', '<', old).execute();
  };

  return {
    claim: (key, digest, owner) =>
      db.transaction().execute(async (trx) => {
        await prune(trx);
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('idempotency')
          .values({ ...key, digest, owner, createdAt: runtime.now().toISOString() })
          .onConflict((conflict) => conflict.columns(['tokenId', 'key']).doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) return { state: 'claimed' };
        const found = await trx
          .selectFrom('idempotency')
          .select(['digest', 'owner', 'envelope'])
          .where('tokenId', '=', key.tokenId)
          .where('key', '=', key.key)
          .executeTakeFirstOrThrow();
        const envelope = fromJson(found.envelope);
        return envelope === null
          ? { state: 'open', digest: found.digest, owner: found.owner }
          : { state: 'done', digest: found.digest, envelope };
      }),

    complete: async ({ tokenId, key }, envelope) => {
      await db
        .updateTable('idempotency')
        .set({ envelope: toJson(envelope) })
        .where('tokenId', '=', tokenId)
        .where('key', '=', key)
        .execute();
    },

    release: async ({ tokenId, key }) => {
      await db
        .deleteFrom('idempotency')
        .where('tokenId', '=', tokenId)
        .where('key', '=', key)
        .where('envelope', 'is', null)
        .execute();
    },
  };
}
