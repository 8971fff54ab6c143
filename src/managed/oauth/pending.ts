import { randomBytes } from 'node:crypto';
import type { OAuthRecord } from './record.ts';

/** Milliseconds in which a person has to come back from the browser. */
const LIFETIME_MS = 10 * 60_000;
const MOST = 100;

/** A sign-in under way: all that its end needs, held in memory alone. */
export interface Pending {
  key: string;
  record: OAuthRecord;
  codeVerifier: string;
}

/** Sign-ins under way, each by a state that nobody guesses and that is good once. */
export interface PendingSignIns {
  add(pending: Pending): string;
  /** Takes it out. */
  take(state: string): Pending | undefined;
  forget(key: string): void;
}

export function createPending(now: () => Date): PendingSignIns {
  const waiting = new Map<string, Pending & { until: number }>();
  return {
    add(pending) {
      const [oldest] = waiting.keys();
      if (oldest !== undefined && waiting.size >= MOST) waiting.delete(oldest);
      const state = randomBytes(32).toString('base64url');
      waiting.set(state, { ...pending, until: now().getTime() + LIFETIME_MS });
      return state;
    },
    take(state) {
      const found = waiting.get(state);
      waiting.delete(state);
      return found !== undefined && found.until > now().getTime() ? found : undefined;
    },
    forget(key) {
      for (const [state, pending] of waiting) if (pending.key === key) waiting.delete(state);
    },
  };
}
