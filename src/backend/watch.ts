import { KaiwuError } from '../core/errors.ts';
import type { FeedEntry } from '../core/feed.ts';
import { createBell } from './bell.ts';
import type { FeedStore } from './store/store.ts';

/** Longest delay that a timer of Node takes, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Reads until `done`, each time that the feed tells of something that concerns it, and never in between. Answers
 * what was read last when `seconds` are over. It subscribes before the first read, so that no change falls between.
 * @throws canceled when the signal aborts
 */
export async function watch<T>(
  feed: Pick<FeedStore, 'subscribe'>,
  what: { concerns(entry: FeedEntry): boolean; read(): Promise<T>; done(value: T): boolean },
  seconds: number,
  signal: AbortSignal,
): Promise<T> {
  const bell = createBell();
  let over = false;
  const unsubscribe = feed.subscribe((entry) => {
    if (what.concerns(entry)) bell.ring();
  });
  const end = () => {
    over = true;
    bell.ring();
  };
  const timer = setTimeout(end, Math.min(Math.max(0, seconds) * 1000, LONGEST_TIMER_MS));
  signal.addEventListener('abort', bell.ring);
  try {
    for (;;) {
      if (signal.aborted) throw new KaiwuError('canceled', 'The caller gave up before the wait was over.');
      const value = await what.read();
      if (over || what.done(value)) return value;
      await bell.heard();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', bell.ring);
    unsubscribe();
  }
}
