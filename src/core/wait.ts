import type { Caller } from './call.ts';

/** Longest wait inside one call where the surface sets no shorter one, seconds. */
export const MAX_WAIT_SECONDS = 3600;

/** Seconds to wait: what was asked (else `fallback`), never past what the surface can bear. */
export function waitSeconds(asked: number | undefined, caller: Caller, fallback = 600): number {
  return Math.min(asked ?? fallback, caller.maxWaitSeconds ?? MAX_WAIT_SECONDS);
}
