import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionDeps } from '../connection.ts';

/** Milliseconds. */
const WINDOW = 60_000;
const SHORTEST = 500;
const LONGEST = 30_000;
/** Streams within the window that may be opened as fast as the server asks. */
const FREE = 10;

/**
 * Spaces out the attempts to open streams of events anew, whatever pause a server asks for: after the first ones of a minute
 * the pause doubles, up to half a minute, with a spread.
 */
export function createPace({ now, random }: Pick<ConnectionDeps, 'now' | 'random'>) {
  let times: number[] = [];
  return async (signal: AbortSignal | null | undefined): Promise<void> => {
    const at = now().getTime();
    times = times.filter((time) => at - time < WINDOW);
    times.push(at);
    const over = times.length - FREE;
    if (over <= 0) return;
    const pause = Math.min(LONGEST, SHORTEST * 2 ** Math.min(over, 10));
    await wait(pause * (0.75 + random() / 2), undefined, signal ? { signal } : {});
  };
}
