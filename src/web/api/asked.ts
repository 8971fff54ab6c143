import { type Accessor, createResource } from 'solid-js';

export interface Asked<T> {
  /** Undefined until it is there; then the newest, also while it is asked anew. */
  data: Accessor<T | undefined>;
  loading: Accessor<boolean>;
  refresh(): void;
}

/**
 * Something that one part of a page asks for, again whenever `of` changes, and not while that is undefined. The part that waits
 * shows so itself: a page that is put away until an answer comes takes the focus from whoever writes in it, closes its dialogs,
 * and what is typed next goes to the shortcuts.
 */
export function createAsked<S, T>(of: Accessor<S | undefined>, ask: (of: S) => Promise<T>): Asked<T> {
  const [answer, { refetch }] = createResource<T | undefined, S>(of, ask, { initialValue: undefined });
  // The newest value never suspends where there was one from the start.
  return { data: () => answer.latest, loading: () => answer.loading, refresh: () => void refetch() };
}
