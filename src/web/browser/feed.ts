import { createParser } from 'eventsource-parser';
import type { FeedEntry } from '../../core/feed.ts';
import { now, sleep, spread } from './host.ts';
import { open } from './http.ts';

/** The server says something every 15 s; after this silence, milliseconds, the connection counts as dead. */
const SILENCE_MS = 45_000;
const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 15_000;
const SETTLED_MS = 10_000;
const MAX_EVENT = 16 * 1024 * 1024;

export interface FeedListener {
  onEntry(entry: FeedEntry): void;
  /** Something may have been missed: everything shown has to be read again. */
  onGap(): void;
  /** Text of the running turns may have been missed, and nothing else: that is not kept by the feed. */
  onBreak(): void;
  onState(up: boolean): void;
  /** The sign-in no longer holds. */
  onRefused(): void;
}

/** Sessions whose text is wanted as it is written. */
export interface Wanted {
  ids(): string[];
  /** Hears that there are more. @returns the way to stop */
  onMore(listener: () => void): () => void;
}

/** Follows what changes until `signal` aborts, and goes on after a break where it stopped. */
export async function follow(listener: FeedListener, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const position: { lastId?: string } = {};
  let delay = FIRST_DELAY_MS;
  while (!signal.aborted) {
    const startedAt = now();
    const asksAnew = new AbortController();
    const forget = wanted.onMore(() => asksAnew.abort());
    const until = AbortSignal.any([signal, asksAnew.signal]);
    await read(listener, position, wanted.ids(), until).catch(() => undefined);
    forget();
    if (asksAnew.signal.aborted) continue;
    listener.onState(false);
    if (now() - startedAt > SETTLED_MS) delay = FIRST_DELAY_MS;
    await untilDue(spread(delay), signal);
    delay = Math.min(delay * 2, LAST_DELAY_MS);
  }
}

/** The delay, or sooner when the browser says that it is connected again or that somebody looks at the page. */
function untilDue(ms: number, signal: AbortSignal): Promise<void> {
  const early = new AbortController();
  const wake = () => early.abort();
  const options = { once: true, signal: early.signal };
  addEventListener('online', wake, options);
  document.addEventListener('visibilitychange', wake, options);
  signal.addEventListener('abort', wake, options);
  return sleep(ms, early.signal).finally(wake);
}

async function read(
  listener: FeedListener,
  position: { lastId?: string },
  deltasOf: string[],
  signal: AbortSignal,
): Promise<void> {
  const dead = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => dead.abort(), SILENCE_MS);
  };
  alive();
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent({ event, id, data }) {
      if (id !== undefined) position.lastId = id;
      if (event === 'reset' || event === 'ready') {
        position.lastId = String((JSON.parse(data) as { newest: number }).newest);
        listener.onGap();
      } else listener.onEntry(JSON.parse(data) as FeedEntry);
    },
  });
  try {
    const { lastId } = position;
    const headers = {
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    };
    const path = `/v1/events?deltas=${deltasOf.map(encodeURIComponent).join()}`;
    const stream = await open(path, headers, AbortSignal.any([signal, dead.signal]));
    if (typeof stream === 'number') {
      if (stream === 401) listener.onRefused();
      return;
    }
    listener.onBreak();
    listener.onState(true);
    for (;;) {
      const { done, value } = await stream.read();
      if (done) return;
      alive();
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
  }
}
