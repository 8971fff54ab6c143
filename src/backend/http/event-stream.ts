import type { FeedEntry } from '../../core/feed.ts';
import { createBell } from '../bell.ts';
import type { FeedStore } from '../store/store.ts';

/** What a slow reader may leave waiting, entries and characters; past it the store is read again when it is ready. */
const MAX_WAITING = 10_000;
const MAX_WAITING_CHARS = 4 * 1024 * 1024;

/** Characters handed on at once, and at most one entry more. */
const CHUNK_CHARS = 64 * 1024;

/** Stored entries read at once. */
const PAGE = 200;

export interface StreamTimings {
  /** Milliseconds between comment lines on a quiet stream. */
  heartbeatMs: number;
  /** Milliseconds that a reader may leave a full buffer untouched before its stream is cut. */
  stallMs: number;
}

interface Waiting {
  /** 0 for what is live only. */
  id: number;
  text: string;
  /** Whether it goes out, where that had to be looked up. */
  wanted?: Promise<boolean>;
}

export interface EventStream {
  body: ReadableStream<Uint8Array>;
  /** Ends it: at once if the reader is not reading. */
  stop(): void;
  done: Promise<void>;
}

/**
 * Server-sent events from the feed. Stored entries are sent in order, each once, from `after` on; a reader that
 * falls behind is served from the store, so memory stays bounded and nothing is lost but live deltas.
 */
export function streamEvents(options: {
  feed: FeedStore;
  /** Id after which to resume; undefined for live entries only. */
  after: number | undefined;
  wants(entry: FeedEntry): boolean | Promise<boolean>;
  /** Asked at each heartbeat. */
  mayGoOn(): boolean;
  /** Tears the connection down, for a reader that does not read. */
  cut(): void;
  timings: StreamTimings;
}): EventStream {
  const { feed, after, wants, timings } = options;
  const bell = createBell();
  const room = createBell();
  const encoder = new TextEncoder();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let waiting: Waiting[] = [];
  let waitingChars = 0;
  let behind = after !== undefined;
  let cursor = after ?? 0;
  let quiet = false;
  const ended = new AbortController();
  let canceled = false;

  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    pull: room.ring,
    cancel: () => {
      canceled = true;
      stop();
    },
  });
  const isFull = (): boolean => (controller.desiredSize ?? 0) <= 0;

  function stop(): void {
    if (!ended.signal.aborted && !canceled && isFull()) options.cut();
    ended.abort();
    bell.ring();
    room.ring();
  }

  async function send(text: string): Promise<void> {
    if (text === '' || ended.signal.aborted) return;
    controller.enqueue(encoder.encode(text));
    const stalled = setTimeout(stop, timings.stallMs);
    while (!ended.signal.aborted && isFull()) await room.heard();
    clearTimeout(stalled);
  }

  /** Entries that nobody wants are kept as an id alone: the reader is past them then. */
  const format = (entry: FeedEntry): Waiting => {
    const wanted = wants(entry);
    const text = wanted === false ? '' : toEvent(entry.type, entry.id, entry);
    return { id: entry.id ?? 0, text, ...(wanted instanceof Promise ? { wanted } : {}) };
  };

  async function sendAll(entries: Waiting[]): Promise<void> {
    let text = '';
    for (const entry of entries) {
      if (entry.wanted === undefined || (await entry.wanted)) text += entry.text;
      cursor = Math.max(cursor, entry.id);
      if (text.length < CHUNK_CHARS) continue;
      await send(text);
      text = '';
    }
    await send(text);
  }

  async function begin(): Promise<void> {
    if (after !== undefined) return send(': resuming\n\n');
    cursor = (await feed.bounds()).newest;
    await send(toEvent('ready', cursor, { newest: cursor }));
  }

  async function replay(): Promise<void> {
    behind = false;
    while (!ended.signal.aborted) {
      const { oldest, newest } = await feed.bounds();
      if (cursor > newest || cursor < oldest - 1) {
        // What lies between is no longer kept (or never was): the reader has to look at everything afresh.
        cursor = newest;
        await send(toEvent('reset', newest, { newest }));
      }
      const page = await feed.since(cursor, PAGE);
      if (page.length === 0) return;
      await sendAll(page.map(format));
    }
  }

  async function run(): Promise<void> {
    await begin();
    while (!ended.signal.aborted) {
      if (behind) await replay();
      const fresh = waiting.filter((entry) => entry.id === 0 || entry.id > cursor);
      waiting = [];
      waitingChars = 0;
      if (quiet && fresh.length === 0) await send(': quiet\n\n');
      await sendAll(fresh);
      quiet = false;
      if (!behind && waiting.length === 0) await bell.heard();
    }
  }

  const unsubscribe = feed.subscribe((entry) => {
    const next = format(entry);
    if (waiting.length >= MAX_WAITING || waitingChars + next.text.length > MAX_WAITING_CHARS) {
      waiting = [];
      waitingChars = 0;
      behind = true;
    }
    waiting.push(next);
    waitingChars += next.text.length;
    bell.ring();
  });
  const heartbeat = setInterval(() => {
    quiet = true;
    if (options.mayGoOn()) bell.ring();
    else stop();
  }, timings.heartbeatMs);
  const done = run().finally(() => {
    ended.abort();
    clearInterval(heartbeat);
    unsubscribe();
    // Where the reader has gone it is closed already.
    if (!canceled) controller.close();
  });
  return { body, stop, done };
}

const toEvent = (type: string, id: number | undefined, data: object): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
