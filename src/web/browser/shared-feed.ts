import type { FeedEntry } from '../../core/feed.ts';
import { type FeedListener, follow } from './feed.ts';
import type { LiveSessions } from './live-sessions.ts';
import { now } from './host.ts';

/**
 * A browser opens six connections to a server at most, and every tab would hold one for the feed. So one tab follows and tells
 * the others; which one is decided by a lock, and taken over when that tab is closed or no longer heard of.
 */
const LOCK = 'kaiwu.feed';

/** Milliseconds between two signs of life of the tab that follows, and without one until another tab takes over. */
const ALIVE_MS = 5000;
const SILENCE_MS = 15_000;

type Told = { entry: FeedEntry } | { gap: true } | { broke: true } | { up: boolean };

/** Of a tab that has just come, or just begun to follow: it wants to know how things stand. */
const HELLO = 'hello';

/** Of a tab that shows these sessions. */
type Wish = { show: string[] };

export function followTogether(listener: FeedListener, shown: LiveSessions, signal: AbortSignal): void {
  // Where pages are not trusted with locks (plain HTTP from afar) each follows for itself.
  if (navigator.locks === undefined) {
    void follow(listener, shown, signal);
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
    else if ('broke' in told) listener.onBreak();
    else if (told.up !== up || told.up) {
      // What this tab has missed while nobody told it anything is read again.
      if (told.up && !up) listener.onGap();
      up = told.up;
      listener.onState(up);
    }
  };
  const tellShown = () => channel.postMessage({ show: shown.own() } satisfies Wish);
  const forget = shown.onOwn(tellShown);
  channel.addEventListener('message', ({ data }: MessageEvent<Told | Wish | typeof HELLO>) => {
    if (data === HELLO) {
      tellShown();
      if (leads) channel.postMessage({ up } satisfies Told);
    } else if ('show' in data) shown.add(data.show);
    else if (!leads) hear(data);
  });

  async function lead(stolen: AbortSignal): Promise<void> {
    leads = true;
    const tell = (told: Told): void => {
      channel.postMessage(told);
      hear(told);
    };
    const alive = setInterval(() => channel.postMessage({ up } satisfies Told), ALIVE_MS);
    channel.postMessage(HELLO);
    await follow(
      {
        onEntry: (entry) => tell({ entry }),
        onGap: () => tell({ gap: true }),
        onBreak: () => tell({ broke: true }),
        onState: (state) => tell({ up: state }),
        onRefused: listener.onRefused,
      },
      shown,
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
    forget();
    channel.close();
  });
}
