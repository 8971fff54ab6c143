import type { ServerResponse } from 'node:http';
import type { FeedEntry } from '../../core/feed.ts';
import { createBell } from '../bell.ts';
import type { FeedStore } from '../store/store.ts';

/** Live entries that a slow reader may leave waiting; past it they are read again from the store when it is ready. */
const MAX_WAITING = 1000;

/** Stored entries read at once. */
const PAGE = 200;

export interface StreamTimings {
  /** Milliseconds between comment lines on a quiet stream. */
  heartbeatMs: number;
  /** Milliseconds that a reader may leave a full buffer untouched before its stream is cut. */
  stallMs: number;
}

export interface EventStream {
  /** Ends it: at once if the reader is not reading. */
  stop(): void;
  done: Promise<void>;
}

/**
 * Server-sent events from the feed. Stored entries are sent in order, each once, from `after` on; a reader that
 * falls behind is served from the store, so memory stays bounded and nothing is lost but live deltas.
 */
export function streamEvents(
  out: ServerResponse,
  options: {
    feed: FeedStore;
    /** Id after which to resume; undefined for live entries only. */
    after: number | undefined;
    wants(entry: FeedEntry): boolean;
    /** Asked at each heartbeat. */
    mayGoOn(): boolean;
    timings: StreamTimings;
  },
): EventStream {
  const { feed, after, wants, timings } = options;
  const bell = createBell();
  let waiting: FeedEntry[] = [];
  let behind = after !== undefined;
  let cursor = after ?? 0;
  let quiet = false;
  let stopped = false;

  const stop = () => {
    stopped = true;
    if (out.writableNeedDrain) out.destroy();
    bell.ring();
  };

  async function send(text: string): Promise<void> {
    if (text === '' || stopped || out.write(text)) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        clearTimeout(stalled);
        out.off('drain', settle).off('close', settle);
        resolve();
      };
      const stalled = setTimeout(() => out.destroy(), timings.stallMs);
      out.on('drain', settle).on('close', settle);
    });
  }

  const format = (entry: FeedEntry): string => (wants(entry) ? toEvent(entry.type, entry.id, entry) : '');

  async function begin(): Promise<void> {
    if (after !== undefined) return send(': resuming\n\n');
    cursor = (await feed.bounds()).newest;
    await send(toEvent('ready', cursor, { newest: cursor }));
  }

  async function replay(): Promise<void> {
    behind = false;
    while (!stopped) {
      const { oldest, newest } = await feed.bounds();
      if (cursor > newest || cursor < oldest - 1) {
        // What lies between is no longer kept (or never was): the reader has to look at everything afresh.
        cursor = newest;
        await send(toEvent('reset', newest, { newest }));
      }
      const page = await feed.since(cursor, PAGE);
      if (page.length === 0) return;
      await send(page.map(format).join(''));
      cursor = page.at(-1)?.id ?? cursor;
    }
  }

  async function run(): Promise<void> {
    await begin();
    while (!stopped) {
      if (behind) await replay();
      const fresh = waiting.filter((entry) => entry.id === undefined || entry.id > cursor);
      waiting = [];
      cursor = Math.max(cursor, ...fresh.map((entry) => entry.id ?? 0));
      await send(fresh.map(format).join('') || (quiet ? ': quiet\n\n' : ''));
      quiet = false;
      if (!behind && waiting.length === 0) await bell.heard();
    }
  }

  const unsubscribe = feed.subscribe((entry) => {
    if (waiting.length >= MAX_WAITING) {
      waiting = [];
      behind = true;
    }
    waiting.push(entry);
    bell.ring();
  });
  const heartbeat = setInterval(() => {
    quiet = true;
    if (options.mayGoOn()) bell.ring();
    else stop();
  }, timings.heartbeatMs);
  out.on('close', stop);
  const done = run().finally(() => {
    clearInterval(heartbeat);
    unsubscribe();
    out.end();
  });
  return { stop, done };
}

const toEvent = (type: string, id: number | undefined, data: object): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
