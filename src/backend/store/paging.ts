import type { SelectQueryBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Page, PageRequest } from '../../core/page.ts';
import { fromCursor, toCursor } from '../../core/page.ts';

/** Order of a list: columns that together tell every row from the others, all falling (newest first) or all rising. */
interface Order {
  /** Named in cursors, so that one of another list is refused. */
  list: string;
  columns: Record<string, 'string' | 'number'>;
  rising?: boolean;
}

/**
 * Reads one page. The place is the key of the last row handed out, so rows that come meanwhile change nothing.
 * @throws invalid_input for a cursor that this list never gave
 */
export async function readPage<DB, TB extends keyof DB, Row extends object, T>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { list, columns, rising = false }: Order,
  { limit, cursor }: PageRequest,
  toItem: (row: Row) => T,
): Promise<Page<T>> {
  const names = Object.keys(columns);
  // One row more tells whether there is a next page.
  let page = query.limit(limit + 1);
  for (const name of names) page = page.orderBy(sql.ref(name), rising ? 'asc' : 'desc');
  if (cursor !== undefined) {
    const key = fromCursor(list, cursor, Object.values(columns));
    const refs = sql.join(names.map((name) => sql.ref(name)));
    page = page.where(sql<SqlBool>`(${refs}) ${sql.raw(rising ? '>' : '<')} (${sql.join(key)})`);
  }
  const rows = await page.execute();
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const keyOf = (row: object) =>
    names.map((name) => (row as Record<string, string | number>)[columnOf(name)] ?? '');
  return {
    items: items.map(toItem),
    ...(rows.length > limit && last !== undefined ? { nextCursor: toCursor(list, keyOf(last)) } : {}),
  };
}

/** `sessions.createdAt` is read as `createdAt`. */
const columnOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
