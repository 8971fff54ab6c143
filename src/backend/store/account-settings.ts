import type { Kysely } from 'kysely';
import type { FeedBody } from '../../core/feed.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, type Json, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

/** Settings of the account by name, each a small document of JSON that its owner reads and writes whole. */
export interface AccountSettings {
  read<T>(name: string): Promise<T | undefined>;
  /**
   * Changes one in a transaction: `change` gets what is stored now and answers what shall be, or throws and nothing happens.
   * @param tell what others hear of it, once it is stored
   */
  change<T>(name: string, change: (before: T | undefined) => T, tell?: FeedBody): Promise<T>;
}

export function createAccountSettings(db: Kysely<Schema>, writer: Writer, runtime: Runtime): AccountSettings {
  async function read<T>(from: Kysely<Schema>, name: string): Promise<T | undefined> {
    const row = await from
      .selectFrom('accountSettings')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst();
    return row && (fromJson(row.value) as T);
  }

  return {
    read: (name) => read(db, name),
    change: (name, change, tell) =>
      writer.write(async (trx, announce) => {
        const next = change(await read(trx, name));
        const row = {
          value: toJson(next as object) as Json<unknown>,
          updatedAt: runtime.now().toISOString(),
        };
        await trx
          .insertInto('accountSettings')
          .values({ name, ...row })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
          .execute();
        if (tell !== undefined) announce(tell);
        return next;
      }),
  };
}
