import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Passages that are remembered, and their vectors. The index of words is the database's own, made where it is opened. */
export async function memory({ schema }: Kysely<unknown>, dialect: MigrationDialect): Promise<void> {
  const { text } = dialect;
  await schema
    .createTable('memoryItems')
    .addColumn('ordinal', dialect.idType, dialect.id)
    .addColumn('itemId', text, (c) => c.notNull().unique())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('learningKind', text)
    .addColumn('text', text, (c) => c.notNull())
    .addColumn('confidence', 'real')
    .addColumn('sources', text, (c) => c.notNull())
    .addColumn('tags', text, (c) => c.notNull())
    .addColumn('workspace', text)
    .addColumn('folder', text)
    .addColumn('filePath', text)
    .addColumn('language', text)
    .addColumn('repo', text)
    .addColumn('commitId', text)
    .addColumn('url', text)
    .addColumn('threadId', text)
    .addColumn('agentId', text)
    .addColumn('messageId', text)
    .addColumn('observedAt', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .execute();
  for (const column of ['threadId', 'filePath', 'messageId', 'createdAt']) {
    await schema.createIndex(`memoryItemsBy${column}`).on('memoryItems').column(column).execute();
  }
  await schema
    .createTable('memoryVectors')
    .addColumn('itemId', text, (c) => c.primaryKey())
    .addColumn('model', text, (c) => c.notNull())
    .addColumn('vector', text, (c) => c.notNull())
    .execute();
}
