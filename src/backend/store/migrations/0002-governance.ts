import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Runtime } from '../../../core/ports/stores.ts';
import { toRequesterKey } from '../approvals.ts';
import { auditPages, CHAIN_START, toAuditRow, toRowHash } from '../audit-chain.ts';
import { fromJson } from '../rows.ts';
import type { Schema } from '../schema.ts';
import type { MigrationDialect } from './migration-dialect.ts';

/** Grants, folded approvals, settings of the policy, and the chain of the audit. */
export async function governance(
  db: Kysely<unknown>,
  { text }: MigrationDialect,
  runtime: Runtime,
): Promise<void> {
  const { schema } = db;
  const tables = db.withTables<{ [T in keyof Schema]: Schema[T] }>();

  const approvals = schema.alterTable('approvals');
  await approvals.addColumn('requesterKey', text, (c) => c.notNull().defaultTo('')).execute();
  await approvals.addColumn('boundTo', text, (c) => c.notNull().defaultTo('')).execute();
  await approvals.addColumn('count', 'integer', (c) => c.notNull().defaultTo(1)).execute();
  await approvals.addColumn('nearestGrant', text).execute();
  await approvals.addColumn('policyVersion', 'integer').execute();
  await schema
    .createIndex('approvalsPending')
    .on('approvals')
    .columns(['requesterKey'])
    .where(sql.ref('status'), '=', sql.lit('pending'))
    .execute();
  for (const { requester } of await tables.selectFrom('approvals').select('requester').distinct().execute()) {
    await tables
      .updateTable('approvals')
      .set({ requesterKey: toRequesterKey(fromJson(requester)) })
      .where('requester', '=', requester)
      .execute();
  }

  await schema
    .createTable('grants')
    .addColumn('grantId', text, (c) => c.primaryKey())
    .addColumn('artifactId', text, (c) => c.notNull())
    .addColumn('actionId', text, (c) => c.notNull())
    .addColumn('surface', text, (c) => c.notNull())
    .addColumn('tokenId', text, (c) => c.notNull())
    .addColumn('machineId', text)
    .addColumn('pins', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('createdBy', text, (c) => c.notNull())
    .addColumn('expiresAt', text, (c) => c.notNull())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .addColumn('usesLeft', 'integer', (c) => c.notNull())
    .addColumn('revokedAt', text)
    .execute();
  await schema.createIndex('grantsAll').on('grants').columns(['createdAt', 'grantId']).execute();
  await schema
    .createIndex('grantsOfAction')
    .on('grants')
    .columns(['actionId', 'createdAt', 'grantId'])
    .execute();

  await schema.alterTable('policies').addColumn('settings', text).execute();
  await schema.createIndex('idempotencyByTime').on('idempotency').columns(['createdAt']).execute();

  await schema.alterTable('audit').addColumn('grantId', text).execute();
  await schema
    .alterTable('audit')
    .addColumn('hash', text, (c) => c.notNull().defaultTo(''))
    .execute();
  await chainAudit(tables, runtime);
}

async function chainAudit(db: Kysely<Schema>, runtime: Runtime): Promise<void> {
  let before = CHAIN_START;
  for await (const rows of auditPages(db, Number.MAX_SAFE_INTEGER)) {
    for (const row of rows) {
      before = toRowHash(runtime, before, toAuditRow(row));
      await db.updateTable('audit').set({ hash: before }).where('auditId', '=', row.auditId).execute();
    }
  }
}
