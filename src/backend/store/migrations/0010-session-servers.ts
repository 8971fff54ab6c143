import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Which managed servers a session gets; null for all that the servers themselves allow. */
export async function sessionServers({ schema }: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  await schema.alterTable('sessions').addColumn('mcpServers', text).execute();
}
