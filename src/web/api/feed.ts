import { createSignal } from 'solid-js';
import type { FeedEntry } from '../../core/feed.ts';
import { followTogether } from '../browser/shared-feed.ts';

/** An entry of the feed, or word that some may have been missed. */
export type News = FeedEntry | { type: 'gap' };

const listeners = new Set<(news: News) => void>();
const [connected, setConnected] = createSignal<boolean | undefined>(undefined);

/** Whether what is shown is live; undefined before the first try. */
export { connected };

/** Hears all that changes. @returns the way to stop */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tell = (news: News): void => {
  for (const listener of listeners) listener(news);
};

/** Starts following. @returns the way to stop */
export function startFeed(onRefused: () => void): () => void {
  const control = new AbortController();
  followTogether(
    {
      onEntry: tell,
      onGap: () => tell({ type: 'gap' }),
      onState: setConnected,
      onRefused,
    },
    control.signal,
  );
  return () => {
    control.abort();
    setConnected(undefined);
  };
}
