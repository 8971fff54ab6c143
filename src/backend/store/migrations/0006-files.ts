import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Files that were sent, the account's recipient, and what a new device needs to be handed the account's key. */
export async function files({ schema }: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  await schema
    .createTable('files')
    .addColumn('fileId', text, (c) => c.primaryKey())
    .addColumn('sessionId', text, (c) => c.notNull())
    .addColumn('machineId', text, (c) => c.notNull())
    .addColumn('sizeBytes', 'bigint', (c) => c.notNull())
    .addColumn('storedBytes', 'bigint', (c) => c.notNull())
    .addColumn('sealed', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .execute();
  await schema.createIndex('filesAll').on('files').columns(['createdAt', 'fileId']).execute();
  await schema
    .createIndex('filesOfSession')
    .on('files')
    .columns(['sessionId', 'createdAt', 'fileId'])
    .execute();
  await schema
    .createTable('accountKeys')
    .addColumn('keyId', 'integer', (c) => c.primaryKey())
    .addColumn('recipient', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .execute();
  const codes = () => schema.alterTable('deviceCodes');
  await codes().addColumn('recipient', text).execute();
  await codes().addColumn('sealedKey', text).execute();
}
