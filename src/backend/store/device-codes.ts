import type { Kysely, Selectable } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import type { DeviceCode, DeviceCodeStore } from './store.ts';

/** Milliseconds that an expired code is still known, so that its device hears that it has expired. */
const KEEP_MS = 24 * 60 * 60 * 1000;

const toDeviceCode = (row: Selectable<Schema['deviceCodes']>): DeviceCode => withoutNulls(row);

export function createDeviceCodeStore(db: Kysely<Schema>, runtime: Runtime): DeviceCodeStore {
  const findBy = async (column: 'userCode' | 'deviceCodeHash', value: string) => {
    const row = await db.selectFrom('deviceCodes').selectAll().where(column, '=', value).executeTakeFirst();
    return row && toDeviceCode(row);
  };

  return {
    insert: (code) =>
      db.transaction().execute(async (trx) => {
        const old = new Date(runtime.now().getTime() - KEEP_MS).toISOString();
        await trx.deleteFrom('deviceCodes').where('expiresAt', '<', old).execute();
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('deviceCodes')
          .values(code)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) return;
        throw new KaiwuError('conflict', `The user code ${code.userCode} is in use.`, {
          hint: 'Ask for another code.',
        });
      }),

    findByUserCode: (userCode) => findBy('userCode', userCode),
    findByHash: (deviceCodeHash) => findBy('deviceCodeHash', deviceCodeHash),

    move: async (deviceCodeHash, from, to, sealedKey) => {
      const { numUpdatedRows } = await db
        .updateTable('deviceCodes')
        .set({
          status: to,
          ...(sealedKey === undefined ? {} : { sealedKey }),
          ...(to === 'used' ? { sealedKey: null } : {}),
        })
        .where('deviceCodeHash', '=', deviceCodeHash)
        .where('status', '=', from)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    notePoll: async (deviceCodeHash) => {
      await db
        .updateTable('deviceCodes')
        .set({ polledAt: runtime.now().toISOString() })
        .where('deviceCodeHash', '=', deviceCodeHash)
        .execute();
    },
  };
}
