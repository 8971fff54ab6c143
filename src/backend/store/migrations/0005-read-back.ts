import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** What was read back to a person before a voice's call runs, and how many wrong codes that still bears. */
export async function readBack({ schema }: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  const approvals = schema.alterTable('approvals');
  await approvals.addColumn('confirmation', text).execute();
  await approvals.addColumn('triesLeft', 'integer').execute();
  await schema
    .createIndex('approvalsReadBack')
    .on('approvals')
    .columns(['requesterKey', 'actionId', 'createdAt'])
    .where(sql.ref('confirmation'), 'is not', null)
    .execute();
}
