import type { Kysely, Migration } from 'kysely';
import { start } from './0001-start.ts';
import type { MigrationDialect } from './migration-dialect.ts';

type Change = (db: Kysely<unknown>, dialect: MigrationDialect) => Promise<void>;

/** Every change of the tables, in order, for all databases. A released one is never edited. */
const CHANGES: Record<string, Change> = {
  '0001-start': start,
};

export const toMigrations = (dialect: MigrationDialect): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(CHANGES).map(([name, change]) => [
      name,
      { up: (db: Kysely<unknown>) => change(db, dialect) },
    ]),
  );
