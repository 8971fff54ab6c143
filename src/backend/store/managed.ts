import type { Kysely, Selectable } from 'kysely';
import type { Runtime } from '../../core/ports/stores.ts';
import type { ManagedStore, NewPin, StoredPin, StoredServer } from './managed-store.ts';
import { type Json, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

/** One damaged row must not take the others down. */
function readJson<T>(json: Json<T> | null): T | undefined {
  try {
    return json === null ? undefined : (JSON.parse(json) as T);
  } catch {
    return undefined;
  }
}

function toServer(row: Selectable<Schema['managedServers']>): StoredServer {
  const { nameFolded: _, ...rest } = row;
  return withoutNulls({
    ...rest,
    config: readJson(row.config) ?? null,
    secretNames: readJson(row.secretNames) ?? [],
    listing: readJson(row.listing) ?? null,
  });
}

const toPin = (row: Selectable<Schema['managedPins']>): StoredPin =>
  withoutNulls({ ...row, definition: readJson(row.definition) ?? null });

export function createManagedStore(db: Kysely<Schema>, runtime: Runtime): ManagedStore {
  const now = () => runtime.now().toISOString();

  const find = async (from: Kysely<Schema>, serverKey: string): Promise<StoredServer | undefined> => {
    const row = await from
      .selectFrom('managedServers')
      .selectAll()
      .where('serverKey', '=', serverKey)
      .executeTakeFirst();
    return row && toServer(row);
  };

  async function pin(trx: Kysely<Schema>, serverKey: string, pins: NewPin[]): Promise<StoredPin[]> {
    const acceptedAt = now();
    for (const { definition, ...rest } of pins) {
      const row = { ...rest, serverKey, acceptedAt, definition: toJson(definition) };
      await trx
        .insertInto('managedPins')
        .values(row)
        .onConflict((conflict) => conflict.columns(['serverKey', 'tool']).doUpdateSet(row))
        .execute();
    }
    return pins.map((each) => ({ ...each, serverKey, acceptedAt }));
  }

  const revokeGrants = (trx: Kysely<Schema>) =>
    trx.updateTable('grants').set({ revokedAt: now() }).where('revokedAt', 'is', null);

  /** All ids that begin with the server's part: `/` is what follows `.`. */
  const revokeGrantsOf = (trx: Kysely<Schema>, name: string) =>
    revokeGrants(trx)
      .where('actionId', '>', `managed.${name}.`)
      .where('actionId', '<', `managed.${name}/`)
      .execute();

  return {
    all: async () => {
      const servers = await db.selectFrom('managedServers').selectAll().orderBy('name').execute();
      const pins = await db.selectFrom('managedPins').selectAll().orderBy('tool').execute();
      return { servers: servers.map(toServer), pins: pins.map(toPin) };
    },

    insert: ({ config, secretNames, name, ...rest }) =>
      db.transaction().execute(async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('managedServers')
          .values({
            ...rest,
            name,
            nameFolded: name.toLowerCase(),
            config: toJson(config),
            secretNames: toJson(secretNames),
            createdAt: now(),
            updatedAt: now(),
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 1n ? find(trx, rest.serverKey) : undefined;
      }),

    update: (serverKey, { config, secretNames, listing, name, ...rest }) =>
      db.transaction().execute(async (trx) => {
        const before = name === undefined ? undefined : await find(trx, serverKey);
        if (before !== undefined) await revokeGrantsOf(trx, before.name);
        await trx
          .updateTable('managedServers')
          .set({
            ...rest,
            ...(name === undefined ? {} : { name, nameFolded: name.toLowerCase() }),
            ...(config === undefined ? {} : { config: toJson(config) }),
            ...(secretNames === undefined ? {} : { secretNames: toJson(secretNames) }),
            ...(listing === undefined ? {} : { listing: toJson(listing) }),
            updatedAt: now(),
          })
          .where('serverKey', '=', serverKey)
          .execute();
        return find(trx, serverKey);
      }),

    remove: (serverKey) =>
      db.transaction().execute(async (trx) => {
        const server = await find(trx, serverKey);
        if (server === undefined) return;
        await trx.deleteFrom('managedPins').where('serverKey', '=', serverKey).execute();
        await trx.deleteFrom('managedServers').where('serverKey', '=', serverKey).execute();
        await revokeGrantsOf(trx, server.name);
      }),

    trust: (serverKey, pins) =>
      db.transaction().execute(async (trx) => {
        const trustedAt = now();
        const { numUpdatedRows } = await trx
          .updateTable('managedServers')
          .set({ trustedAt })
          .where('serverKey', '=', serverKey)
          .where('trustedAt', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return undefined;
        return { trustedAt, pins: await pin(trx, serverKey, pins) };
      }),

    accept: (serverKey, pins, actionIds) =>
      db.transaction().execute(async (trx) => {
        if (actionIds.length > 0) await revokeGrants(trx).where('actionId', 'in', actionIds).execute();
        return pin(trx, serverKey, pins);
      }),
  };
}
