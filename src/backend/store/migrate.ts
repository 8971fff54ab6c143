import type { Kysely, Migration } from 'kysely';
import { Migrator } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { Schema } from './schema.ts';

const MIGRATION_TABLE = 'kysely_migration';

/**
 * Brings the tables up to date.
 * @param name the database, for people
 * @throws conflict when a newer Kaiwu wrote it | state_damaged when it is another program's; both leave it untouched
 */
export async function migrate(
  db: Kysely<Schema>,
  migrations: Record<string, Migration>,
  name: string,
): Promise<void> {
  await assertOurs(db, migrations, name);
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: MIGRATION_TABLE,
    // Kysely orders by the time of each run, which a clock that was set back would turn round. The names decide.
    allowUnorderedMigrations: true,
  }).migrateToLatest();
  if (error !== undefined) throw error;
}

async function assertOurs(db: Kysely<Schema>, migrations: Record<string, Migration>, name: string) {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (tables.length === 0) return;
  if (!tables.some((table) => table.name === MIGRATION_TABLE)) {
    throw new KaiwuError('state_damaged', `${name} belongs to another program. It was left as it is.`, {
      hint: 'Move that file away, or set KAIWU_HOME to another folder.',
    });
  }
  const done = await db
    .withTables<{ [MIGRATION_TABLE]: { name: string } }>()
    .selectFrom(MIGRATION_TABLE)
    .select('name')
    .execute();
  const unknown = done.find((row) => !(row.name in migrations));
  if (unknown !== undefined) {
    const message = `${name} was written by a newer Kaiwu: this version does not know its change ${unknown.name}.`;
    throw new KaiwuError('conflict', message, {
      hint: 'Install the newest Kaiwu. The database was left as it is.',
      details: { migration: unknown.name },
    });
  }
}
