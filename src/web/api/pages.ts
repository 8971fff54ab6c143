import type { Page } from '../../core/page.ts';

/**
 * Reads a list from its start, so many pages of it.
 * @param ask asks for the page at a place; spread into the input, nothing for the first one
 * @returns the rows together, and whether there are more
 */
export async function readPages<T>(
  pages: () => number,
  ask: (place: { cursor?: string }) => Promise<Page<T>>,
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages(); page++) {
    const answer = await ask(cursor === undefined ? {} : { cursor });
    rows.push(...answer.items);
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return { rows, more: cursor !== undefined };
}
