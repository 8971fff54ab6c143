import { setTimeout as sleep } from 'node:timers/promises';
import type { Listing } from './list-tools.ts';

/** Milliseconds. */
const DEBOUNCE = 250;
/** Between two listings that the server asked for; doubles while it goes on asking. */
const SHORTEST_GAP = 1000;
const LONGEST_GAP = 60_000;
/** An empty list may come from a server that is not ready yet. */
const EMPTY_TRIES = [250, 750, 1500];
const RETRY_SHORTEST = 10_000;
const RETRY_LONGEST = 5 * 60_000;

export interface ListKeeper {
  /** Lists; joins a listing that is under way. Resolves when `onListed` or `onFailed` has heard of it. */
  list(): Promise<void>;
  /** The server says that something changed. */
  changed(): void;
  stop(): void;
}

/** Keeps the list of one connection fresh, whatever the server makes of that. */
export function createListKeeper(options: {
  /** @throws why there is no list */
  read(signal: AbortSignal): Promise<Listing>;
  /** No tools by its own word, so that an empty list is no surprise. */
  hasTools: boolean;
  /** Lists again after so many milliseconds, for a server that may change without a word. */
  refreshMs?: number | undefined;
  now(): Date;
  onListed(listing: Listing): void;
  /** Listed nothing, time and again. */
  onEmpty(): void;
  onFailed(error: unknown): void;
}): ListKeeper {
  const end = new AbortController();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let isDirty = false;
  let gap = SHORTEST_GAP;
  let retry = RETRY_SHORTEST;
  let lastAt = 0;

  async function read(): Promise<void> {
    try {
      let listing = await options.read(end.signal);
      for (const pause of options.hasTools ? EMPTY_TRIES : []) {
        if (listing.tools.length > 0) break;
        await sleep(pause, undefined, { signal: end.signal });
        listing = await options.read(end.signal);
      }
      if (listing.tools.length > 0 || !options.hasTools) {
        retry = RETRY_SHORTEST;
        options.onListed(listing);
        if (options.refreshMs !== undefined) schedule(options.refreshMs);
      } else {
        options.onEmpty();
        again();
      }
    } catch (error) {
      if (end.signal.aborted) return;
      options.onFailed(error);
      again();
    }
  }

  function again(): void {
    schedule(retry);
    retry = Math.min(RETRY_LONGEST, retry * 2);
  }

  function schedule(ms: number): void {
    const at = options.now().getTime() + ms;
    if (end.signal.aborted || (timer !== undefined && dueAt <= at)) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void list(), ms);
    timer.unref();
  }

  function list(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running ??= read().finally(() => {
      running = undefined;
      const at = options.now().getTime();
      gap = at - lastAt > 4 * gap ? SHORTEST_GAP : Math.min(LONGEST_GAP, gap * 2);
      lastAt = at;
      if (isDirty) changed();
    });
    return running;
  }

  /** Many at once make one listing, and many one after another make ever fewer. */
  function changed(): void {
    isDirty = running !== undefined;
    if (isDirty) return;
    const since = options.now().getTime() - lastAt;
    schedule(Math.max(DEBOUNCE, gap - since));
  }

  return {
    list,
    changed,
    stop() {
      clearTimeout(timer);
      end.abort();
    },
  };
}
