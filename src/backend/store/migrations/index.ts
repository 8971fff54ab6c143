import type { ColumnDataType, ColumnDefinitionBuilder, Kysely, Migration, RawBuilder } from 'kysely';
import { start } from './0001-start.ts';

type ColumnType = ColumnDataType | RawBuilder<unknown>;

/** In what the databases differ when tables are made. */
export interface MigrationDialect {
  /** Text that compares by code point, so that ids, times and prefixes sort alike everywhere. */
  text: ColumnType;
  /** Type and definition of a primary key whose numbers rise and are never used again. */
  idType: ColumnType;
  id: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

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
