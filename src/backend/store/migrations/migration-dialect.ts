import type { ColumnDataType, ColumnDefinitionBuilder, RawBuilder } from 'kysely';

type ColumnType = ColumnDataType | RawBuilder<unknown>;

/** In what the databases differ when tables are made. */
export interface MigrationDialect {
  /** Text that compares by code point, so that ids, times and prefixes sort alike everywhere. */
  text: ColumnType;
  /** Type and definition of a primary key whose numbers rise and are never used again. */
  idType: ColumnType;
  id: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}
