import type { FeedEntry } from '../../core/feed.ts';
import { type FeedListener, follow } from './feed.ts';
import { now } from './host.ts';

/**
 * A browser opens six connections to a server at most, and every tab would hold one for the feed. So one tab follows and tells
 * the others; which one is decided by a lock, and taken over when that tab is closed or no longer heard of.
 */
const LOCK = 'kaiwu.feed';

/** Milliseconds between two signs of life of the tab that follows, and without one until another tab takes over. */
const ALIVE_MS = 5000;
const SILENCE_MS = 15_000;

type Told = { entry: FeedEntry } | { gap: true } | { up: boolean };

/** Of a tab that has just come: it wants to know how things stand. */
const HELLO = 'hello';

export function followTogether(listener: FeedListener, signal: AbortSignal): void {
  // Where pages are not trusted with locks (plain HTTP from afar) each follows for itself.
  if (navigator.locks === undefined) {
    void follow(listener, signal);
    return;
  }
  const channel = new BroadcastChannel(LOCK);
  let up = false;
  let leads = false;
  let heardAt = now();

  const hear = (told: Told): void => {
    heardAt = now();
    if ('entry' in told) listener.onEntry(told.entry);
    else if ('gap' in told) listener.onGap();
    else if (told.up !== up || told.up) {
      // What this tab has missed while nobody told it anything is read again.
      if (told.up && !up) listener.onGap();
      up = told.up;
      listener.onState(up);
    }
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Told | typeof HELLO>) => {
    if (data === HELLO) {
      if (leads) channel.postMessage({ up } satisfies Told);
    } else if (!leads) hear(data);
  });

  async function lead(stolen: AbortSignal): Promise<void> {
    leads = true;
    const tell = (told: Told): void => {
      channel.postMessage(told);
      hear(told);
    };
    const alive = setInterval(() => channel.postMessage({ up } satisfies Told), ALIVE_MS);
    await follow(
      {
        onEntry: (entry) => tell({ entry }),
        onGap: () => tell({ gap: true }),
        onState: (state) => tell({ up: state }),
        onRefused: listener.onRefused,
      },
      AbortSignal.any([signal, stolen]),
    );
    clearInterval(alive);
    leads = false;
  }

  /** Waits for its turn, or takes it; and waits again once another tab has taken it. */
  async function stand(steal: boolean): Promise<void> {
    const lost = new AbortController();
    const options = steal ? { steal } : { signal };
    await navigator.locks.request(LOCK, options, () => lead(lost.signal)).catch(() => undefined);
    lost.abort();
    if (!signal.aborted) await stand(false);
  }

  channel.postMessage(HELLO);
  void stand(false);
  const watch = setInterval(() => {
    if (leads || document.hidden || now() - heardAt < SILENCE_MS) return;
    heardAt = now();
    void stand(true);
  }, ALIVE_MS);
  signal.addEventListener('abort', () => {
    clearInterval(watch);
    channel.close();
  });
}
