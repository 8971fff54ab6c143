import { setImmediate } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { FeedBody, FeedEntry } from '../../core/feed.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { toJson } from './rows.ts';
import type { Schema } from './schema.ts';

/** Entries of the feed that are kept, and how often older ones are removed, in entries. */
const FEED_KEEP = 50_000;
const FEED_PRUNE_EVERY = 1_000;

/** Adds an entry to the feed, in the transaction of the change that it tells of. */
export type Announce = (body: FeedBody) => void;

/** Notes a token that the transaction takes back. */
export type NoteRevoked = (tokenId: string) => void;

export interface Writer {
  /** Runs one transaction. What it announces is stored with it, and told to subscribers once it has committed. */
  write<T>(
    work: (trx: Transaction<Schema>, announce: Announce, noteRevoked: NoteRevoked) => Promise<T>,
  ): Promise<T>;
  /** The same a turn later, so that what is asked for in this turn can come along in `work`. */
  writeSoon<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Hears of tokens that were taken back, once that has committed. */
  onRevoked(listener: (tokenId: string) => void): () => void;
  /** Tells subscribers without storing. */
  tell(entry: FeedEntry): void;
  subscribe(listener: (entry: FeedEntry) => void): () => void;
  /** Resolves when the writes that have been asked for are over. */
  settled(): Promise<void>;
}

/** The one way to change something that others watch. Writes run one after the other, so entries are told in order. */
export function createWriter(db: Kysely<Schema>, runtime: Runtime): Writer {
  const listeners = new Set<(entry: FeedEntry) => void>();
  const revokedListeners = new Set<(tokenId: string) => void>();
  let tail: Promise<unknown> = Promise.resolve();

  const tell = (entry: FeedEntry): void => tellAll(listeners, entry);

  async function commit<T>(work: Parameters<Writer['write']>[0]): Promise<T> {
    const { result, entries, revoked } = await db.transaction().execute(async (trx) => {
      const bodies: FeedBody[] = [];
      const revoked: string[] = [];
      const result = (await work(
        trx,
        (body) => bodies.push(body),
        (tokenId) => revoked.push(tokenId),
      )) as T;
      return { result, revoked, entries: await storeEntries(trx, bodies, runtime.now().toISOString()) };
    });
    for (const tokenId of revoked) tellAll(revokedListeners, tokenId);
    for (const entry of entries) tell(entry);
    return result;
  }

  /** One after the other, whatever becomes of the one before. */
  function inTurn<T>(begin: () => Promise<T>): Promise<T> {
    const done = tail.then(() => begin());
    tail = done.catch(() => undefined);
    return done;
  }

  return {
    write: (work) => inTurn(() => commit(work)),
    writeSoon: (work) =>
      inTurn(async () => {
        await setImmediate();
        return commit(work);
      }),
    tell,
    subscribe: (listener) => add(listeners, listener),
    onRevoked: (listener) => add(revokedListeners, listener),
    settled: async () => {
      await tail;
    },
  };
}

function add<T>(listeners: Set<(told: T) => void>, listener: (told: T) => void): () => void {
  // Two subscriptions of one function are two.
  const own = (told: T): void => listener(told);
  listeners.add(own);
  return () => listeners.delete(own);
}

function tellAll<T>(listeners: Set<(told: T) => void>, told: T): void {
  for (const listener of listeners) {
    try {
      listener(told);
    } catch {
      // The change is stored; a listener that fails must not make it look refused, nor keep others from hearing it.
    }
  }
}

async function storeEntries(trx: Transaction<Schema>, bodies: FeedBody[], at: string): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (const body of bodies) {
    const { feedId } = await trx
      .insertInto('feed')
      .values({ at, body: toJson(body) })
      .returning('feedId')
      .executeTakeFirstOrThrow();
    entries.push({ ...body, id: feedId, at });
    if (feedId % FEED_PRUNE_EVERY === 0) {
      await trx
        .deleteFrom('feed')
        .where('feedId', '<=', feedId - FEED_KEEP)
        .execute();
    }
  }
  return entries;
}
