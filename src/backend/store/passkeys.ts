import type { Kysely, Selectable } from 'kysely';
import type { Passkey } from '../../core/ports/passkeys.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, toJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';

/** What a challenge was given out for. */
export type ChallengePurpose = 'add' | 'sign_in';

/** Most challenges that are kept. What asks for them is limited in number, so that honest ones are not pushed out. */
const MAX_CHALLENGES = 200;

export interface StoredPasskey extends Omit<Passkey, 'opensFiles'> {
  /** Base64url, as browsers give it. */
  credentialId: string;
  /** COSE, base64url. */
  publicKey: string;
  /** Signatures that the authenticator has counted, 0 for one that does not count. */
  counter: number;
  transports: string[];
  /** The key of the files, sealed by the passkey in the browser. */
  sealedKey?: string;
}

export interface PasskeyChallenge {
  /** Hex SHA-256. */
  hash: string;
  purpose: ChallengePurpose;
  /** Token that asked for it; empty where nobody was signed in. */
  tokenId: string;
  expiresAt: string;
}

export interface PasskeyStore {
  /** False where this credential is known already. */
  insert(passkey: Omit<StoredPasskey, 'createdAt' | 'lastUsedAt' | 'revokedAt'>): Promise<boolean>;
  /** Newest first, revoked ones too. */
  list(): Promise<StoredPasskey[]>;
  /** Revoked ones too. */
  find(credentialId: string): Promise<StoredPasskey | undefined>;
  /** Undefined where there is none that holds. */
  rename(passkeyId: string, name: string): Promise<StoredPasskey | undefined>;
  /** Compare-and-set of the counter, and only while it holds. */
  noteUse(passkeyId: string, counter: { from: number; to: number }): Promise<boolean>;
  /** Revokes it with the devices that it signed in and their tokens, in one transaction. Idempotent. */
  revoke(passkeyId: string): Promise<{ passkey: StoredPasskey; deviceIds: string[] } | undefined>;
  insertChallenge(challenge: PasskeyChallenge): Promise<void>;
  /** Takes it away, so that it is good once. Undefined where it is not there. */
  takeChallenge(hash: string): Promise<PasskeyChallenge | undefined>;
}

/** Some databases answer large numbers as text. */
const toPasskey = (row: Selectable<Schema['passkeys']>): StoredPasskey =>
  withoutNulls({ ...row, counter: Number(row.counter), transports: fromJson(row.transports) });

export function createPasskeyStore(db: Kysely<Schema>, runtime: Runtime): PasskeyStore {
  const now = () => runtime.now().toISOString();
  const findBy = async (from: Kysely<Schema>, column: 'passkeyId' | 'credentialId', value: string) => {
    const row = await from.selectFrom('passkeys').selectAll().where(column, '=', value).executeTakeFirst();
    return row && toPasskey(row);
  };

  return {
    insert: async ({ transports, ...passkey }) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('passkeys')
        .values({ ...passkey, transports: toJson(transports), createdAt: now() })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },

    list: async () => {
      const all = db.selectFrom('passkeys').selectAll();
      return (await all.orderBy('createdAt', 'desc').orderBy('passkeyId', 'desc').execute()).map(toPasskey);
    },

    find: (credentialId) => findBy(db, 'credentialId', credentialId),

    rename: async (passkeyId, name) => {
      const row = await db
        .updateTable('passkeys')
        .set({ name })
        .where('passkeyId', '=', passkeyId)
        .where('revokedAt', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row && toPasskey(row);
    },

    noteUse: async (passkeyId, { from, to }) => {
      const { numUpdatedRows } = await db
        .updateTable('passkeys')
        .set({ counter: to, lastUsedAt: now() })
        .where('passkeyId', '=', passkeyId)
        .where('counter', '=', from)
        .where('revokedAt', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    revoke: (passkeyId) =>
      db.transaction().execute(async (trx) => {
        const revokedAt = now();
        await trx
          .updateTable('passkeys')
          .set({ revokedAt, sealedKey: null })
          .where('passkeyId', '=', passkeyId)
          .where('revokedAt', 'is', null)
          .execute();
        const passkey = await findBy(trx, 'passkeyId', passkeyId);
        if (passkey === undefined) return undefined;
        await trx
          .updateTable('tokens')
          .set({ revokedAt })
          .where('deviceId', 'in', (of) =>
            of.selectFrom('devices').select('deviceId').where('passkeyId', '=', passkeyId),
          )
          .where('revokedAt', 'is', null)
          .execute();
        const devices = await trx
          .updateTable('devices')
          .set({ revokedAt })
          .where('passkeyId', '=', passkeyId)
          .where('revokedAt', 'is', null)
          .returning('deviceId')
          .execute();
        return { passkey, deviceIds: devices.map(({ deviceId }) => deviceId) };
      }),

    insertChallenge: (challenge) =>
      db.transaction().execute(async (trx) => {
        await trx.deleteFrom('passkeyChallenges').where('expiresAt', '<', now()).execute();
        await trx.insertInto('passkeyChallenges').values(challenge).execute();
        const kept = trx
          .selectFrom('passkeyChallenges')
          .select('hash')
          .orderBy('expiresAt', 'desc')
          .orderBy('hash')
          .limit(MAX_CHALLENGES);
        await trx.deleteFrom('passkeyChallenges').where('hash', 'not in', kept).execute();
      }),

    takeChallenge: (hash) =>
      db.deleteFrom('passkeyChallenges').where('hash', '=', hash).returningAll().executeTakeFirst(),
  };
}
