import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { fromJson } from '../rows.ts';
import type { Schema } from '../schema.ts';
import { askingSessionOf } from '../approvals.ts';
import type { MigrationDialect } from './migration-dialect.ts';

/** Sessions as a tree, what waits for a person, and tokens of sessions. */
export async function sessionTree(db: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  const { schema } = db;
  const tables = db.withTables<{ [T in keyof Schema]: Schema[T] }>();

  const sessions = schema.alterTable('sessions');
  await sessions.addColumn('parentSessionId', text).execute();
  await sessions.addColumn('path', text, (c) => c.notNull().defaultTo('')).execute();
  await sessions.addColumn('depth', 'integer', (c) => c.notNull().defaultTo(0)).execute();
  await sessions.addColumn('tags', text, (c) => c.notNull().defaultTo('[]')).execute();
  for (const name of [
    'additionalDirectories',
    'environmentNames',
    'startOptions',
    'worktree',
    'runId',
    'forkedFrom',
    'configOptions',
    'usage',
    'question',
    'permissionAt',
    'questionAt',
    'failedAt',
    'stalledSince',
    'archiveToldAt',
  ]) {
    await sessions.addColumn(name, text).execute();
  }
  await tables
    .updateTable('sessions')
    .set((eb) => ({ path: sql<string>`${eb.ref('sessionId')} || '/'` }))
    .execute();
  // Earlier daemons were never told; nothing of theirs waits for it.
  await tables
    .updateTable('sessions')
    .set((eb) => ({ archiveToldAt: eb.ref('archivedAt') }))
    .execute();
  await tables
    .updateTable('sessions')
    .set((eb) => ({ failedAt: eb.ref('updatedAt') }))
    .where('status', '=', 'failed')
    .execute();
  await tables
    .updateTable('sessions')
    .set((eb) => ({ permissionAt: eb.ref('updatedAt') }))
    .where('permission', 'is not', null)
    .execute();
  await schema.createIndex('sessionsByPath').on('sessions').columns(['path']).execute();
  await schema
    .createIndex('sessionsOfParent')
    .on('sessions')
    .columns(['parentSessionId', 'createdAt', 'sessionId'])
    .execute();
  for (const name of ['permissionAt', 'questionAt', 'failedAt', 'stalledSince']) {
    await schema
      .createIndex(`sessionsBy_${name}`)
      .on('sessions')
      .columns([name, 'sessionId'])
      .where(sql.ref(name), 'is not', null)
      .execute();
  }

  const approvals = schema.alterTable('approvals');
  await approvals.addColumn('askingSessionId', text).execute();
  for (const { requester } of await tables.selectFrom('approvals').select('requester').distinct().execute()) {
    await tables
      .updateTable('approvals')
      .set((eb) => ({ askingSessionId: askingSessionOf(fromJson(requester)) ?? eb.ref('sessionId') }))
      .where('requester', '=', requester)
      .execute();
  }

  await schema.alterTable('tokens').addColumn('sessionId', text).execute();
  await schema
    .createIndex('tokensOfSession')
    .on('tokens')
    .columns(['sessionId'])
    .where(sql.ref('sessionId'), 'is not', null)
    .execute();
}
