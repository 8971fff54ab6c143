import { CamelCasePlugin, Kysely, sql } from 'kysely';
import type { SqliteHandle } from '../../../core/ports/host.ts';
import type { Runtime } from '../../../core/ports/stores.ts';
import { createStore } from '../create-store.ts';
import { sqliteWords } from '../memory-words.ts';
import { migrate } from '../migrate.ts';
import { toMigrations } from '../migrations/index.ts';
import type { MigrationDialect } from '../migrations/migration-dialect.ts';
import type { Schema } from '../schema.ts';
import type { BackendStore } from '../store.ts';
import { createSqliteDialect } from './dialect.ts';

const MIGRATION_DIALECT: MigrationDialect = {
  text: 'text',
  idType: 'integer',
  id: (column) => column.primaryKey().autoIncrement(),
};

/**
 * The store in a SQLite database. It closes the handle when it is closed; when this throws, the caller still has it.
 * @throws conflict when a newer Kaiwu wrote the database | state_damaged when it is another program's
 */
export async function createSqliteStore(handle: SqliteHandle, runtime: Runtime): Promise<BackendStore> {
  const db = new Kysely<Schema>({
    dialect: createSqliteDialect(handle),
    plugins: [new CamelCasePlugin()],
  });
  const { rows } = await sql<{ file: string }>`pragma database_list`.execute(db);
  await migrate(db, toMigrations(MIGRATION_DIALECT, runtime), rows[0]?.file ?? 'The database');
  await sqliteWords.open(db);
  return createStore(db, runtime, sqliteWords);
}
