import { createSignal } from 'solid-js';
import type { FeedEntry } from '../../core/feed.ts';
import { createLiveSessions } from '../browser/live-sessions.ts';
import { followTogether } from '../browser/shared-feed.ts';

/** An entry of the feed, or word that some may have been missed: of all (`gap`), or of the text of running turns (`break`). */
export type News = FeedEntry | { type: 'gap' | 'break' };

const listeners = new Set<(news: News) => void>();
const [connected, setConnected] = createSignal<boolean | undefined>(undefined);

/** Whether what is shown is live; undefined before the first try. */
export { connected };

/** Hears all that changes. @returns the way to stop */
export function onNews(listener: (news: News) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const shown = createLiveSessions();

/** Text of a running turn comes for sessions that are shown. @returns the way to say that it no longer is */
export const showLive = shown.show;

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
      onBreak: () => tell({ type: 'break' }),
      onState: setConnected,
      onRefused,
    },
    shown,
    control.signal,
  );
  return () => {
    control.abort();
    setConnected(undefined);
  };
}
