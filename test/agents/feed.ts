import { createParser } from 'eventsource-parser';
import type { FeedEntry } from '../../src/core/feed.ts';

/** The backend's live stream of events, from its opening on. */
export interface Feed {
  entries: FeedEntry[];
  /** Asks `check` now and after each entry until it answers. @throws after `ms`, naming `what` */
  until<T>(what: string, check: () => Promise<T | undefined> | T | undefined, ms: number): Promise<T>;
  close(): void;
}

export async function openFeed(url: string, token: string): Promise<Feed> {
  const entries: FeedEntry[] = [];
  const listeners = new Set<() => void>();
  const over = new AbortController();
  const answer = await fetch(`${url}/v1/events`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    signal: over.signal,
  });
  if (answer.body === null || !answer.ok) throw new Error(`/v1/events answered ${answer.status}`);
  const parser = createParser({
    onEvent({ data }) {
      entries.push(JSON.parse(data) as FeedEntry);
      for (const listener of listeners) listener();
    },
  });
  void read(answer.body, (text) => parser.feed(text)).catch(() => undefined);

  async function until<T>(
    what: string,
    check: () => Promise<T | undefined> | T | undefined,
    ms: number,
  ): Promise<T> {
    const limit = performance.now() + ms;
    for (;;) {
      const news = nextNews(limit);
      const found = await check();
      if (found !== undefined) {
        news.forget();
        return found;
      }
      await news.came;
      if (performance.now() >= limit) throw new Error(`${what}: not within ${Math.round(ms / 1000)} s`);
    }
  }

  /** Listens before the look, so that what comes during it is not missed. */
  function nextNews(limit: number): { came: Promise<void>; forget(): void } {
    let forget = () => {};
    const came = new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, limit - performance.now()));
      listeners.add(done);
      forget = done;
    });
    return { came, forget };
  }

  return { entries, until, close: () => over.abort() };
}

async function read(body: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const part of body) take(decoder.decode(part, { stream: true }));
}
