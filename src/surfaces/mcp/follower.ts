import type { FeedEntry } from '../../core/feed.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { BackendLink } from './backend-link.ts';
import { aborted, delay, type Timing } from './timing.ts';

export type FeedType = FeedEntry['type'];

/** Follows what changes over one stream, also when the backend goes away or comes back at another address. */
export interface Follower {
  start(): void;
  /** Nothing can change unnoticed. */
  isUp(): boolean;
  /** The backend answered something: no need to wait longer before the next attempt. */
  reached(): void;
  close(): void;
}

export function createFollower(options: {
  backend: BackendLink;
  log: Logger;
  timing: Timing;
  random(): number;
  types: FeedType[];
  /** Something changed; without an entry it is that the stream is up, and anything may have changed while nobody listened. */
  onChange(entry?: FeedEntry): void;
}): Follower {
  const { backend, log, timing } = options;
  let up = false;
  const closed = new AbortController();
  let attempt: AbortController | undefined;
  let mayRestart = false;

  async function follow(): Promise<void> {
    while (!closed.signal.aborted) {
      const stop = new AbortController();
      attempt = stop;
      mayRestart = false;
      // An attempt gets some time before a call that went through is taken for a sign to start over.
      const soon = setTimeout(() => {
        mayRestart = true;
      }, timing.restartMs).unref();
      try {
        await followOnce(stop);
      } catch (error) {
        log.warn({ error: String(error) }, 'changes cannot be followed');
        backend.forget();
        await Promise.race([
          delay(timing.followAgainMs * (0.75 + options.random() / 2)),
          aborted(stop.signal),
        ]);
      }
      clearTimeout(soon);
      up = false;
    }
  }

  async function followOnce(stop: AbortController): Promise<void> {
    const client = await backend.get();
    const look = setInterval(() => {
      if (up) return;
      backend.forget();
      const restartIfMoved = (now: unknown) => {
        if (now !== client) stop.abort();
      };
      backend.get().then(restartIfMoved, () => undefined);
    }, timing.movedMs).unref();
    try {
      const onState = (state: boolean) => {
        up = state;
        if (up) options.onChange();
      };
      await client.follow({ types: options.types, signal: stop.signal, onState }, options.onChange);
    } finally {
      clearInterval(look);
    }
  }

  return {
    start: () => void follow(),
    isUp: () => up,
    reached() {
      if (!up && mayRestart) attempt?.abort();
    },
    close() {
      closed.abort();
      attempt?.abort();
    },
  };
}
