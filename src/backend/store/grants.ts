import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import type { Grant } from '../../core/grant.ts';
import type { GrantStore, Runtime } from '../../core/ports/stores.ts';
import { readPage } from './paging.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

const ORDER = { list: 'grants', columns: { createdAt: 'string', grantId: 'string' } } as const;

/** Most grants that are weighed for one call. */
const CANDIDATES_MAX = 100;

const toGrant = (row: Selectable<Schema['grants']>): Grant =>
  withoutNulls({ ...row, pins: fromJson(row.pins) });

/** Neither revoked nor over. */
const stands = (now: string) => (eb: ExpressionBuilder<Schema, 'grants'>) =>
  eb.and([eb('revokedAt', 'is', null), eb('expiresAt', '>', now)]);

const usable = (now: string) => (eb: ExpressionBuilder<Schema, 'grants'>) =>
  eb.and([stands(now)(eb), eb('usesLeft', '>', 0)]);

export function createGrantStore(db: Kysely<Schema>, runtime: Runtime): GrantStore {
  const get = async (grantId: string): Promise<Grant | undefined> => {
    const row = await db.selectFrom('grants').selectAll().where('grantId', '=', grantId).executeTakeFirst();
    return row && toGrant(row);
  };

  return {
    get,

    insert: async (grant) => {
      await db
        .insertInto('grants')
        .values({ ...grant, pins: toJson(grant.pins) })
        .execute();
    },

    list: ({ actionId, active }, page) => {
      let query = db.selectFrom('grants').selectAll();
      if (actionId !== undefined) query = query.where('actionId', '=', actionId);
      if (active !== undefined) {
        const now = runtime.now().toISOString();
        query = query.where((eb) => (active ? usable(now)(eb) : eb.not(usable(now)(eb))));
      }
      return readPage(query, ORDER, page, toGrant);
    },

    candidates: async ({ actionId, surface, tokenId }, now) => {
      const rows = await db
        .selectFrom('grants')
        .selectAll()
        .where('actionId', '=', actionId)
        .where('surface', '=', surface as Grant['surface'])
        .where('tokenId', '=', tokenId)
        .where(stands(now))
        .orderBy('createdAt', 'desc')
        .orderBy('grantId', 'desc')
        .limit(CANDIDATES_MAX)
        .execute();
      return rows.map(toGrant);
    },

    use: async (grantId, now) => {
      const { numUpdatedRows } = await db
        .updateTable('grants')
        .set((eb) => ({ usesLeft: eb('usesLeft', '-', 1) }))
        .where('grantId', '=', grantId)
        .where(usable(now))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    revoke: async (grantId, now) => {
      await db
        .updateTable('grants')
        .set({ revokedAt: now })
        .where('grantId', '=', grantId)
        .where('revokedAt', 'is', null)
        .execute();
      return get(grantId);
    },
  };
}
