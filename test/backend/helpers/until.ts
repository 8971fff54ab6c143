import type { BackendStore } from '../../../src/backend/store/store.ts';
import type { FeedEntry } from '../../../src/core/feed.ts';

/** Resolves with the first entry of the feed, from now on, that is looked for. */
export function until(
  feed: BackendStore['feed'],
  looked: (entry: FeedEntry) => boolean,
  withinMs = 20_000,
): Promise<FeedEntry> {
  return new Promise((resolve, reject) => {
    const unsubscribe = feed.subscribe((entry) => {
      if (!looked(entry)) return;
      settle();
      resolve(entry);
    });
    const settle = () => {
      clearTimeout(timer);
      unsubscribe();
    };
    const timer = setTimeout(() => {
      settle();
      reject(new Error(`nothing of the kind within ${withinMs} ms: ${String(looked)}`));
    }, withinMs);
  });
}
