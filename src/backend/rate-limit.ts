import { KaiwuError } from '../core/errors.ts';

/** Lets so many things happen in any stretch of time. */
export interface RateLimit {
  /** @throws rate_limited when the measure is full */
  check(): void;
  count(): void;
}

export function createRateLimit(options: {
  max: number;
  perMs: number;
  monotonicMs(): number;
  what: string;
}): RateLimit {
  const { max, perMs, monotonicMs, what } = options;
  let times: number[] = [];
  return {
    check() {
      const now = monotonicMs();
      times = times.filter((time) => now - time < perMs);
      const oldest = times[0];
      if (times.length < max || oldest === undefined) return;
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + perMs - now) / 1000));
      throw new KaiwuError('rate_limited', `Too many ${what}: at most ${max} in ${perMs / 1000} s.`, {
        hint: `Try again in ${retryAfterSeconds} s.`,
        details: { retryAfterSeconds },
      });
    },
    count() {
      times.push(monotonicMs());
    },
  };
}
