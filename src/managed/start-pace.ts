/** Milliseconds. */
const SHORTEST = 2000;
const LONGEST = 5 * 60_000;
const WINDOW = 60_000;
/** Starts within one window. */
const MAX_STARTS = 6;
/** A server that stayed up for so long is no sign of trouble. */
const STEADY = 60_000;

/**
 * How often a server that fails is started anew: after waits that double, with a spread, and never more than six times a
 * minute. That it came up does not count as success; that it stayed up does.
 */
export interface StartPace {
  started(): void;
  /** It went, or did not come. @returns milliseconds until the next start */
  failed(): number;
  /** Whether a start now is within bounds; for a start that somebody waits for. */
  mayStart(): boolean;
}

export function createStartPace({ now, random }: { now(): Date; random(): number }): StartPace {
  let starts: number[] = [];
  let failures = 0;
  const recent = (at: number) => {
    starts = starts.filter((start) => at - start < WINDOW);
    return starts;
  };
  return {
    started() {
      const at = now().getTime();
      recent(at).push(at);
    },
    failed() {
      const at = now().getTime();
      if (starts.length > 0 && at - starts.at(-1)! > STEADY) failures = 0;
      const wait = Math.min(LONGEST, SHORTEST * 2 ** failures) * (1 + random() / 4);
      failures += 1;
      const oldest = recent(at).at(-MAX_STARTS);
      return oldest === undefined ? wait : Math.max(wait, oldest + WINDOW - at);
    },
    mayStart() {
      const at = now().getTime();
      return recent(at).length < MAX_STARTS && (starts.length === 0 || at - starts.at(-1)! >= SHORTEST);
    },
  };
}
