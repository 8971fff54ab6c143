import type { FeedBody } from '../../core/feed.ts';
import type { Logger } from '../../core/ports/host.ts';

/** Milliseconds between two rounds of entries: servers that come and go all the time do not fill the feed. */
const EVERY_MS = 300;

/** Tells the feed of servers and of the catalog: the first change at once, what follows it together. */
export interface Announcer {
  server(name: string): void;
  catalog(): void;
  /** Tells what is due, and nothing more. */
  close(): Promise<void>;
}

export function createAnnouncer(options: { append(body: FeedBody): Promise<void>; log: Logger }): Announcer {
  const due = new Map<string, FeedBody>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let telling: Promise<unknown> = Promise.resolve();

  function tell(): void {
    const bodies = [...due.values()];
    due.clear();
    telling = Promise.all(bodies.map((body) => options.append(body))).catch((error: unknown) =>
      options.log.error({ error }, 'could not tell of managed servers'),
    );
  }

  function add(key: string, body: FeedBody): void {
    if (closed) return;
    due.set(key, body);
    if (timer !== undefined) return;
    // What belongs to one change comes within a turn.
    setImmediate(tell);
    timer = setTimeout(() => {
      timer = undefined;
      const [next] = due.values();
      const [of] = due.keys();
      if (next !== undefined && of !== undefined) add(of, next);
    }, EVERY_MS).unref();
  }

  return {
    server: (name) => add(`server ${name}`, { type: 'mcp_server.changed', name }),
    catalog: () => add('catalog', { type: 'catalog.changed' }),
    async close() {
      closed = true;
      clearTimeout(timer);
      tell();
      await telling;
    },
  };
}
