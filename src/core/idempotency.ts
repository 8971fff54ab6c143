import type { Envelope } from './call.ts';
import { KaiwuError, type WireError } from './errors.ts';
import type { IdempotencyKey, IdempotencyStore } from './ports/stores.ts';

/** Longest key, characters. */
export const MAX_KEY = 200;

export interface Once {
  key: IdempotencyKey;
  digest: string;
  /** Whether running twice is harmless, so that an unknown outcome may be settled by running again. */
  idempotent: boolean;
  /** The call is to be filed for a person, which the key makes repeatable; it runs only after `willRun`. */
  asks: boolean;
  /** What was filed under the key, if anything was. */
  findFiled(): Promise<Envelope | undefined>;
  /** `willRun` is to be awaited before the action itself. */
  run(willRun: () => Promise<void>): Promise<Envelope>;
  /** The outcome as it may be stored. Where that is less than it was, this process remembers the whole for a while. */
  toStored(envelope: Envelope): Envelope;
  isPartial: boolean;
}

/** Outcomes that are remembered whole, at most. */
const MAX_RECENT = 200;

const nameOf = ({ tokenId, key }: IdempotencyKey): string => `${tokenId} ${key}`;

/** Stands in a claim for its owner while the call can only be filed: cut off there, it has done nothing that a repeat would double. */
const ASKING = 'asking';

/** Runs calls that carry a key once, across retries, concurrent copies and a crash of this process. */
export function createIdempotency(store: IdempotencyStore, ownerId: string) {
  const recent = new Map<string, Envelope>();
  const running = new Map<string, { digest: string; outcome: Promise<Envelope> }>();

  function remember(name: string, envelope: Envelope): void {
    recent.set(name, envelope);
    const [oldest] = recent.keys();
    if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest);
  }

  /** Nobody may take the call for one that was only asking once it runs. */
  async function claimToRun(key: IdempotencyKey, digest: string): Promise<void> {
    await store.release(key);
    const { state } = await store.claim(key, digest, ownerId);
    if (state !== 'claimed') throw unknownOutcome(key.key);
  }

  /** What a cut off copy of the call had filed already, or else what comes of the call now. */
  async function filedOrRun(call: Once, wasAsking: boolean): Promise<Envelope> {
    const { key, digest, asks, findFiled, run } = call;
    const filed = wasAsking ? await findFiled() : undefined;
    return filed ?? run(async () => (asks || wasAsking ? claimToRun(key, digest) : undefined));
  }

  async function claimAndRun(call: Once): Promise<Envelope> {
    const { key, digest, idempotent, asks, toStored } = call;
    const claim = await store.claim(key, digest, asks ? ASKING : ownerId);
    let wasAsking = false;
    if (claim.state !== 'claimed') {
      requireSameInput(key.key, claim.digest, digest);
      if (claim.state === 'done') return recent.get(nameOf(key)) ?? claim.envelope;
      wasAsking = claim.owner === ASKING;
      if (!wasAsking && !idempotent) throw unknownOutcome(key.key);
    }
    const envelope = await filedOrRun(call, wasAsking);
    // A failure that may pass leaves the key free for the retry that it asks for, unless something has begun already.
    if (envelope.status === 'error' && envelope.error.retryable && !hasBegun(envelope.error))
      await store.release(key);
    else {
      await store.complete(key, toStored(envelope));
      if (call.isPartial) remember(nameOf(key), envelope);
    }
    return envelope;
  }

  return async function once(call: Once): Promise<Envelope> {
    const name = nameOf(call.key);
    const twin = running.get(name);
    if (twin !== undefined) {
      requireSameInput(call.key.key, twin.digest, call.digest);
      return twin.outcome;
    }
    const outcome = claimAndRun(call).finally(() => running.delete(name));
    running.set(name, { digest: call.digest, outcome });
    return outcome;
  };
}

/** @throws conflict when a key stands for another call already */
export function requireSameInput(key: string, before: string, now: string): void {
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

/** A retry would do it a second time: what ran out of time may be going on, and what names a session has made it. */
const hasBegun = ({ code, details }: WireError): boolean =>
  code === 'timeout' || details?.['sessionId'] !== undefined;
