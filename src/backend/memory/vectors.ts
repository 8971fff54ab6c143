import type { Logger, Outbound } from '../../core/ports/host.ts';
import type { MemoryFilter, MemoryHit, ModelEndpoint } from '../../core/ports/memory.ts';
import { embed } from '../outbound/openai.ts';
import type { MemoryStore } from '../store/memory.ts';

/** Texts in one question to the endpoint, and vectors that one query is weighed over. */
const BATCH = 64;
const MAX_VECTORS = 20_000;

/** The constant of reciprocal rank fusion that its authors found to matter little. */
const FUSION = 60;

export interface MemoryVectors {
  /** Makes what is missing, in the background; asked for again while it works, it goes on until nothing is missing. */
  catchUp(endpoint: ModelEndpoint): void;
  /** Ids by nearness to a text, best first. @throws provider_failed */
  nearest(
    text: string,
    endpoint: ModelEndpoint,
    filter: MemoryFilter,
    signal: AbortSignal,
  ): Promise<string[]>;
  close(): Promise<void>;
}

export function createMemoryVectors(options: {
  store: MemoryStore;
  outbound: Outbound;
  log: Logger;
}): MemoryVectors {
  const { store, outbound, log } = options;
  const closed = new AbortController();
  let running: Promise<void> | undefined;

  async function fill(endpoint: ModelEndpoint): Promise<void> {
    for (;;) {
      const items = await store.withoutVector(endpoint.model, BATCH);
      if (items.length === 0 || closed.signal.aborted) return;
      const vectors = await embed(
        outbound,
        endpoint,
        items.map(({ text }) => text),
        closed.signal,
      );
      await store.setVectors(
        endpoint.model,
        items.map(({ id }, i) => ({ id, vector: vectors[i]! })),
      );
    }
  }

  return {
    catchUp(endpoint) {
      running ??= fill(endpoint)
        .catch((error: unknown) => {
          if (!closed.signal.aborted)
            log.warn({ error: String(error) }, 'vectors of memory could not be made');
        })
        .finally(() => (running = undefined));
    },
    async nearest(text, endpoint, filter, signal) {
      await running;
      const [wanted] = await embed(outbound, endpoint, [text], signal);
      const all = await store.vectors(endpoint.model, filter, MAX_VECTORS);
      return all
        .map(({ id, vector }) => ({ id, score: cosine(wanted!, vector) }))
        .toSorted((a, b) => b.score - a.score)
        .map(({ id }) => id);
    },
    async close() {
      closed.abort();
      await running;
    },
  };
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i]!;
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

/** Joins two orders of the same things: what stands high in both comes first. */
export function fuse(byWords: readonly MemoryHit[], byNearness: readonly string[]): Map<string, number> {
  const scores = new Map<string, number>();
  const add = (id: string, rank: number) => scores.set(id, (scores.get(id) ?? 0) + 1 / (FUSION + rank));
  byWords.forEach(({ id }, rank) => add(id, rank));
  byNearness.forEach((id, rank) => add(id, rank));
  return scores;
}
