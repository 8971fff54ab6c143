import { createSignal } from 'solid-js';
import type { Page } from '../../core/page.ts';
import type { News } from './feed.ts';
import { createLive, type Live } from './live.ts';

interface Loaded<T> {
  rows: T[];
  more: boolean;
}

/**
 * Reads a list from its start, so many pages of it.
 * @param ask asks for the page at a place; spread into the input, nothing for the first one
 * @returns the rows together, and whether there are more
 */
export async function readPages<T>(
  pages: () => number,
  ask: (place: { cursor?: string }) => Promise<Page<T>>,
): Promise<Loaded<T>> {
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

/** A list of which a person sees one page more each time they ask. */
export interface PagedLive<T> extends Live<Loaded<T>> {
  loadMore(): void;
  /** The next read is of the first page alone. */
  startOver(): void;
}

/** @param onLoaded hears of what was read before it is shown */
export function createPaged<T>(
  ask: (place: { cursor?: string }) => Promise<Page<T>>,
  wants: (news: News) => boolean,
  onLoaded?: (rows: T[]) => void,
): PagedLive<T> {
  const [pages, setPages] = createSignal(1);
  const live = createLive(async () => {
    const loaded = await readPages(pages, ask);
    onLoaded?.(loaded.rows);
    return loaded;
  }, wants);
  return {
    ...live,
    loadMore() {
      setPages(pages() + 1);
      void live.refresh();
    },
    startOver: () => void setPages(1),
  };
}
