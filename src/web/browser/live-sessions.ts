import type { Wanted } from './feed.ts';

/** Sessions of which the newest are followed word by word; those shown longest ago are read as they are stored. */
const MAX_SHOWN = 50;

/** The sessions that this tab shows, and those that the other tabs say that they show. */
export interface LiveSessions extends Wanted {
  /** Shown by this tab. @returns the way to say that it no longer is */
  show(sessionId: string): () => void;
  own(): string[];
  /** Hears that this tab shows another one. @returns the way to stop */
  onOwn(listener: () => void): () => void;
  /** Shown by other tabs. */
  add(sessionIds: string[]): void;
}

export function createLiveSessions(): LiveSessions {
  const own = new Set<string>();
  const all = new Set<string>();
  const ownListeners = new Set<() => void>();
  const moreListeners = new Set<() => void>();

  function add(sessionIds: string[]): void {
    const isMore = sessionIds.some((id) => !all.has(id));
    for (const id of sessionIds) {
      // The newest stand last.
      all.delete(id);
      all.add(id);
    }
    for (const id of [...all].slice(0, -MAX_SHOWN)) all.delete(id);
    if (isMore) for (const listener of moreListeners) listener();
  }

  const heard = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    ids: () => [...all],
    onMore: heard(moreListeners),
    own: () => [...own],
    onOwn: heard(ownListeners),
    add,
    show(sessionId) {
      own.add(sessionId);
      add([sessionId]);
      for (const listener of ownListeners) listener();
      return () => void own.delete(sessionId);
    },
  };
}
