/** How long to wait before the next attempt. */
export interface Backoff {
  /** Milliseconds: at random between the shortest wait and a ceiling that doubles with each call. */
  next(): number;
  reset(): void;
}

/** Nothing but failures and time counts here: a closed lid or a dark display does not mean that the machine sleeps. */
export function createBackoff(options: { minMs: number; maxMs: number; random(): number }): Backoff {
  const { minMs, maxMs, random } = options;
  let failures = 0;
  return {
    next() {
      const ceiling = Math.min(maxMs, minMs * 2 ** ++failures);
      return minMs + random() * Math.max(0, ceiling - minMs);
    },
    reset() {
      failures = 0;
    },
  };
}
