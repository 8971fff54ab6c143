import type { Envelope } from './call.ts';
import { KaiwuError } from './errors.ts';
import type { IdempotencyKey, IdempotencyStore } from './ports/stores.ts';

/** Longest key, characters. */
export const MAX_KEY = 200;

export interface Once {
  key: IdempotencyKey;
  digest: string;
  /** Whether running twice is harmless, so that an unknown outcome may be settled by running again. */
  idempotent: boolean;
  run(): Promise<Envelope>;
  /** The outcome as it may be stored. */
  toStored(envelope: Envelope): Envelope;
}

/** Runs calls that carry a key once, across retries, concurrent copies and a crash of this process. */
export function createIdempotency(store: IdempotencyStore, ownerId: string) {
  const running = new Map<string, { digest: string; outcome: Promise<Envelope> }>();

  async function claimAndRun({ key, digest, idempotent, run, toStored }: Once): Promise<Envelope> {
    const claim = await store.claim(key, digest, ownerId);
    if (claim.state !== 'claimed') {
      requireSame(key.key, claim.digest, digest);
      if (claim.state === 'done') return claim.envelope;
      if (!idempotent) throw unknownOutcome(key.key);
    }
    const envelope = await run();
    // A failure that may pass leaves the key free for the retry that it asks for.
    if (envelope.status === 'error' && envelope.error.retryable) await store.release(key);
    else await store.complete(key, toStored(envelope));
    return envelope;
  }

  return async function once(call: Once): Promise<Envelope> {
    const name = `${call.key.tokenId} ${call.key.key}`;
    const twin = running.get(name);
    if (twin !== undefined) {
      requireSame(call.key.key, twin.digest, call.digest);
      return twin.outcome;
    }
    const outcome = claimAndRun(call).finally(() => running.delete(name));
    running.set(name, { digest: call.digest, outcome });
    return outcome;
  };
}

function requireSame(key: string, before: string, now: string): void {
  if (before === now) return;
  throw new KaiwuError('conflict', `The idempotency key ${JSON.stringify(key)} was used for another call.`, {
    hint: 'Use a new key for a new call; the same key only to repeat one.',
  });
}

const unknownOutcome = (key: string) =>
  new KaiwuError(
    'conflict',
    `A call with the idempotency key ${JSON.stringify(key)} was cut off; its outcome is unknown.`,
    {
      hint: 'Look at what it was to change, then call again with a new key if it is still needed.',
      details: { outcome: 'unknown' },
    },
  );
