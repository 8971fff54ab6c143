import { type Accessor, createSignal, onCleanup } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import { now, whenSeen } from '../browser/host.ts';
import { CallError } from './call.ts';
import { type News, onNews } from './feed.ts';

/** Milliseconds in which further news are taken together. */
const TOGETHER_MS = 100;

/** Milliseconds between two reads that news lead to: a busy account must not make every page ask all the time. */
const APART_MS = 500;

/** Milliseconds until what failed and may succeed is tried again. */
export const RETRY_MS = 3000;

export interface Live<T> {
  data: Accessor<T | undefined>;
  error: Accessor<WireError | undefined>;
  loading: Accessor<boolean>;
  refresh(): Promise<void>;
}

export const toWire = (error: unknown): WireError =>
  error instanceof CallError ? error.wire : { code: 'internal', message: String(error), retryable: false };

/**
 * Something read from the backend that is read again whenever `wants` says so of news. One read at a time; what comes
 * meanwhile leads to one more. What nobody looks at is read when somebody does, unless it is `always` wanted.
 */
export function createLive<T>(
  load: (before: T | undefined) => Promise<T>,
  wants: (news: News) => boolean,
  { always = false } = {},
): Live<T> {
  const [data, setData] = createSignal<T>();
  const [error, setError] = createSignal<WireError>();
  const [loading, setLoading] = createSignal(true);
  let running: Promise<void> | undefined;
  let again = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  let readAt = 0;
  const seen = whenSeen(() => void refresh());

  async function readOnce(): Promise<void> {
    again = false;
    readAt = now();
    try {
      const loaded = await load(data());
      if (over) return;
      setData(() => loaded);
      setError(undefined);
    } catch (failure) {
      const wire = toWire(failure);
      setError(wire);
      if (wire.retryable && !over) timer = setTimeout(() => void refresh(), RETRY_MS);
    }
  }

  async function run(): Promise<void> {
    setLoading(true);
    await readOnce();
    while (again) await readOnce();
    setLoading(false);
  }

  function refresh(): Promise<void> {
    if (over) return Promise.resolve();
    if (running !== undefined) again = true;
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  }

  const stop = onNews((news) => {
    if (news.type !== 'gap' && !wants(news)) return;
    clearTimeout(timer);
    const ms = Math.max(TOGETHER_MS, readAt + APART_MS - now());
    timer = setTimeout(always ? () => void refresh() : seen.ask, ms);
  });
  onCleanup(() => {
    over = true;
    clearTimeout(timer);
    seen.forget();
    stop();
  });
  void refresh();
  return { data, error, loading, refresh };
}
