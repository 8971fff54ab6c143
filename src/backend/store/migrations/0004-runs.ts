import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Execution runs and what was said to each. */
export async function runs(db: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('runs')
    .addColumn('runId', text, (c) => c.primaryKey())
    .addColumn('place', 'integer', (c) => c.notNull())
    .addColumn('sessionId', text, (c) => c.notNull())
    .addColumn('intent', text, (c) => c.notNull())
    .addColumn('backendTarget', text, (c) => c.notNull())
    .addColumn('instructions', text, (c) => c.notNull())
    .addColumn('modelId', text)
    .addColumn('permissionMode', text, (c) => c.notNull())
    .addColumn('worktree', 'integer')
    .addColumn('promptVersion', 'integer', (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('runSessionId', text)
    .addColumn('timeoutSeconds', 'integer', (c) => c.notNull())
    .addColumn('requester', text, (c) => c.notNull())
    .addColumn('stopDue', 'integer', (c) => c.notNull())
    .addColumn('answered', 'integer', (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('startedAt', text)
    .addColumn('endedAt', text)
    .addColumn('result', text)
    .addColumn('rawText', text)
    .addColumn('resultProblem', text)
    .addColumn('reason', text)
    .execute();
  await schema.createIndex('runsAll').on('runs').columns(['createdAt', 'runId']).execute();
  await schema.createIndex('runsOfSession').on('runs').columns(['sessionId', 'status', 'place']).execute();
  await schema.createIndex('runsByStatus').on('runs').columns(['status', 'place']).execute();
  await schema
    .createIndex('runsToStop')
    .on('runs')
    .columns(['place'])
    .where(sql.ref('stopDue'), '=', sql.lit(1))
    .execute();

  await schema
    .createIndex('sessionsOfRuns')
    .on('sessions')
    .columns(['runId'])
    .where(sql.ref('runId'), 'is not', null)
    .execute();

  await schema
    .createTable('runMessages')
    .addColumn('runId', text, (c) => c.notNull())
    .addColumn('ordinal', 'integer', (c) => c.notNull())
    .addColumn('messageId', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('text', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('runMessagesKey', ['runId', 'ordinal'])
    .execute();
}
