import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Passkeys, the challenges that are out, and which passkey signed a browser in. */
export async function passkeys({ schema }: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  await schema
    .createTable('passkeys')
    .addColumn('passkeyId', text, (c) => c.primaryKey())
    .addColumn('credentialId', text, (c) => c.notNull().unique())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('site', text, (c) => c.notNull())
    .addColumn('publicKey', text, (c) => c.notNull())
    .addColumn('counter', 'bigint', (c) => c.notNull())
    .addColumn('transports', text, (c) => c.notNull())
    .addColumn('sealedKey', text)
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('lastUsedAt', text)
    .addColumn('revokedAt', text)
    .execute();
  await schema
    .createTable('passkeyChallenges')
    .addColumn('hash', text, (c) => c.primaryKey())
    .addColumn('purpose', text, (c) => c.notNull())
    .addColumn('tokenId', text, (c) => c.notNull())
    .addColumn('expiresAt', text, (c) => c.notNull())
    .execute();
  await schema.alterTable('devices').addColumn('passkeyId', text).execute();
  await schema.createIndex('devicesOfPasskey').on('devices').column('passkeyId').execute();
}
