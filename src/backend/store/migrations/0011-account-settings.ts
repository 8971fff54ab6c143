import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Settings of the account that are read and written whole, one row a name. */
export async function accountSettings(
  { schema }: Kysely<unknown>,
  { text }: MigrationDialect,
): Promise<void> {
  await schema
    .createTable('accountSettings')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('value', text, (c) => c.notNull())
    .addColumn('updatedAt', text, (c) => c.notNull())
    .execute();
}
