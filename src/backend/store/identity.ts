import type { Kysely, Selectable } from 'kysely';
import type { Device } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import { readSession, sessionArchived } from './session-rows.ts';
import { revokeSessionTokens } from './session-tokens.ts';
import type { IdentityStore } from './store.ts';
import type { Writer } from './writer.ts';

/** A use is noted once in this many milliseconds. */
const TOUCH_EVERY_MS = 60_000;

const toDevice = (row: Selectable<Schema['devices']>): Omit<Device, 'current'> => withoutNulls(row);

const TOKEN_COLUMNS = [
  'tokenId',
  'kind',
  'name',
  'scope',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
] as const;
type TokenRow = Pick<Selectable<Schema['tokens']>, (typeof TOKEN_COLUMNS)[number]>;

/** Whatever else was read with it is kept. */
const toToken = <T extends TokenRow>(row: T) => withoutNulls({ ...row, scope: fromJson(row.scope) });

export function createIdentityStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): IdentityStore {
  const now = () => runtime.now().toISOString();

  const revoke = async (from: Kysely<Schema>, column: 'tokenId' | 'deviceId', id: string): Promise<void> => {
    await from
      .updateTable('tokens')
      .set({ revokedAt: now() })
      .where(column, '=', id)
      .where('revokedAt', 'is', null)
      .execute();
  };

  return {
    insertDevice: async (device) => {
      await db
        .insertInto('devices')
        .values({ ...device, createdAt: now() })
        .execute();
    },

    listDevices: async () => {
      const rows = await db
        .selectFrom('devices')
        .selectAll()
        .orderBy('createdAt', 'desc')
        .orderBy('deviceId', 'desc')
        .execute();
      return rows.map(toDevice);
    },

    revokeDevice: (deviceId) =>
      db.transaction().execute(async (trx) => {
        await trx
          .updateTable('devices')
          .set({ revokedAt: now() })
          .where('deviceId', '=', deviceId)
          .where('revokedAt', 'is', null)
          .execute();
        await revoke(trx, 'deviceId', deviceId);
        const row = await trx
          .selectFrom('devices')
          .selectAll()
          .where('deviceId', '=', deviceId)
          .executeTakeFirst();
        return row && toDevice(row);
      }),

    insertToken: async (token) => {
      const row = await db
        .insertInto('tokens')
        .values({ ...token, scope: toJson(token.scope), createdAt: now() })
        .returning(TOKEN_COLUMNS)
        .executeTakeFirstOrThrow();
      return toToken(row);
    },

    insertSessionToken: (sessionId, token) =>
      writer.write(async (trx, _announce, noteRevoked) => {
        const { archivedAt } = await readSession(trx, sessionId);
        if (archivedAt !== undefined) throw sessionArchived(sessionId, archivedAt);
        const at = now();
        await revokeSessionTokens(trx, sessionId, at, noteRevoked);
        await trx
          .insertInto('tokens')
          .values({ ...token, scope: toJson(token.scope), sessionId, createdAt: at })
          .execute();
      }),
    onSessionTokenRevoked: writer.onRevoked,

    findToken: async (hash) => {
      const row = await db
        .selectFrom('tokens')
        .select([...TOKEN_COLUMNS, 'deviceId'])
        .where('hash', '=', hash)
        .executeTakeFirst();
      return row && toToken(row);
    },

    touchToken: async (tokenId) => {
      const row = await db
        .selectFrom('tokens')
        .select(['deviceId', 'lastUsedAt'])
        .where('tokenId', '=', tokenId)
        .executeTakeFirst();
      const due = new Date(runtime.now().getTime() - TOUCH_EVERY_MS).toISOString();
      if (row === undefined || (row.lastUsedAt !== null && row.lastUsedAt > due)) return;
      const lastUsedAt = now();
      await db.transaction().execute(async (trx) => {
        await trx.updateTable('tokens').set({ lastUsedAt }).where('tokenId', '=', tokenId).execute();
        if (row.deviceId === null) return;
        await trx.updateTable('devices').set({ lastUsedAt }).where('deviceId', '=', row.deviceId).execute();
      });
    },

    listTokens: async () => {
      const rows = await db
        .selectFrom('tokens')
        .select(TOKEN_COLUMNS)
        .where('kind', 'in', ['api', 'voice'])
        .orderBy('createdAt', 'desc')
        .orderBy('tokenId', 'desc')
        .execute();
      return rows.map(toToken);
    },

    revokeToken: async (tokenId) => {
      await revoke(db, 'tokenId', tokenId);
      const row = await db
        .selectFrom('tokens')
        .select(TOKEN_COLUMNS)
        .where('tokenId', '=', tokenId)
        .executeTakeFirst();
      return row && toToken(row);
    },
  };
}
