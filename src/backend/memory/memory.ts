import { KaiwuError } from '../../core/errors.ts';
import type { Logger, Outbound } from '../../core/ports/host.ts';
import type {
  MemoryFilter,
  MemoryHit,
  MemoryPort,
  MemorySettings,
  Recalled,
  ShownMemorySettings,
} from '../../core/ports/memory.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Sealer } from '../managed/seal.ts';
import { chat } from '../outbound/openai.ts';
import type { AskMachine } from '../ports/ask-machine.ts';
import type { BackendStore } from '../store/store.ts';
import { toExtract } from './extract.ts';
import { createIngest } from './ingest.ts';
import { RECALL_SYSTEM, readCited, toRecallQuestion } from './recall-prompt.ts';
import { createMemorySettings, toShownEndpoint } from './settings.ts';
import { createTurnMemory } from './turns.ts';
import { createMemoryVectors, fuse } from './vectors.ts';

export interface Memory {
  port: MemoryPort;
  /** Takes up what was left undone. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryOptions {
  store: Pick<BackendStore, 'memory' | 'settings' | 'sessions' | 'feed'>;
  sealer: Sealer;
  outbound: Outbound;
  ask: AskMachine;
  runtime: Runtime;
  log: Logger;
}

/** What the account remembers, over the backend's store. */
export function createMemory(options: MemoryOptions): Memory {
  const { store, outbound, runtime, log } = options;
  const settings = createMemorySettings(store.settings, options.sealer);
  const vectors = createMemoryVectors({ store: store.memory, outbound, log });
  const turns = createTurnMemory({ store, settings, log, onAdded: () => void catchUp() });
  const ingest = createIngest({ ...options, memory: store.memory });

  /** @throws memory_off */
  async function requireOn(): Promise<void> {
    if ((await settings.switches()).enabled) return;
    throw new KaiwuError('memory_off', 'The memory of this account is off.', {
      hint: 'A person can switch it on: kaiwu memory settings set --enabled true.',
    });
  }

  async function catchUp(): Promise<void> {
    const { enabled, embeddings } = await settings.read();
    if (enabled && embeddings !== undefined) vectors.catchUp(embeddings);
  }

  /** By words and by meaning, fused; one page, since the order of the next question would be another. */
  async function hybrid(
    text: string,
    filter: MemoryFilter,
    { limit }: PageRequest,
    { embeddings }: MemorySettings,
    signal: AbortSignal,
  ): Promise<Page<MemoryHit>> {
    if (embeddings === undefined) {
      throw new KaiwuError('unsupported', 'The mode hybrid needs vectors, and no endpoint for them is set.', {
        hint: 'Use mode lexical, or set one: kaiwu memory settings set --embeddings JSON.',
      });
    }
    const [words, near] = await Promise.all([
      store.memory.search(text, filter, { limit: 200 }),
      vectors.nearest(text, embeddings, filter, signal),
    ]);
    const scores = fuse(words.items, near.slice(0, 200));
    const best = [...scores].toSorted((a, b) => b[1] - a[1]).slice(0, limit);
    const items = new Map((await store.memory.get(best.map(([id]) => id))).map((item) => [item.id, item]));
    return {
      items: best.flatMap(([id, score]) => {
        const item = items.get(id);
        return item === undefined ? [] : [{ ...item, score: Math.round(score * 1e6) / 1e6 }];
      }),
    };
  }

  async function recall(
    question: string,
    filter: MemoryFilter,
    limit: number,
    signal: AbortSignal,
  ): Promise<Recalled> {
    await requireOn();
    const on = await settings.read();
    const { items } =
      on.embeddings === undefined
        ? await store.memory.search(question, filter, { limit })
        : await hybrid(question, filter, { limit }, on, signal).catch(() =>
            store.memory.search(question, filter, { limit }),
          );
    const citations = items.map(({ id, text, kind, observed_at, score }) => ({
      id,
      text,
      kind,
      observed_at,
      score,
    }));
    if (items.length === 0)
      return { answer: 'Nothing in memory fits this question.', by: 'extract', citations };
    const extract = (note?: string): Recalled => ({
      answer: toExtract(question, items),
      by: 'extract',
      citations: citations.slice(0, 3),
      ...(note === undefined ? {} : { note }),
    });
    if (on.recall_model === undefined) return extract();
    try {
      const messages = [
        { role: 'system' as const, content: RECALL_SYSTEM },
        { role: 'user' as const, content: toRecallQuestion(question, items) },
      ];
      const answer = await chat(outbound, on.recall_model, messages, signal);
      const cited = readCited(answer, items.length);
      if (cited.length === 0) return extract('The model cited no passage, so its answer was not taken.');
      return { answer, by: 'model', citations: citations.filter((_, i) => cited.includes(i + 1)) };
    } catch (error) {
      if (!(error instanceof KaiwuError) || signal.aborted) throw error;
      return extract(error.message);
    }
  }

  async function show(): Promise<ShownMemorySettings> {
    const { turns_since: _, recall_model: model, embeddings, ...rest } = await settings.read();
    return {
      ...rest,
      ...(model === undefined ? {} : { recall_model: toShownEndpoint(model) }),
      ...(embeddings === undefined ? {} : { embeddings: toShownEndpoint(embeddings) }),
      items: await store.memory.count(),
    };
  }

  const port: MemoryPort = {
    async search({ text, mode, filter }, page, signal) {
      await requireOn();
      return mode === 'hybrid'
        ? hybrid(text, filter, page, await settings.read(), signal)
        : store.memory.search(text, filter, page);
    },
    async list(filter, page) {
      await requireOn();
      return store.memory.list(filter, page);
    },
    recall,
    async learn({ text, kind, confidence, tags, scope }, caller) {
      await requireOn();
      const { items } = await store.memory.add([
        {
          ...scope,
          kind: 'learning',
          learning_kind: kind,
          text,
          tags,
          sources: [caller.client],
          ...(confidence === undefined ? {} : { confidence }),
        },
      ]);
      await catchUp();
      return items[0]!;
    },
    async forget(ids) {
      await requireOn();
      const forgotten = await store.memory.remove(ids);
      return { forgotten, missing: ids.filter((id) => !forgotten.includes(id)) };
    },
    async ingest(document, caller) {
      await requireOn();
      const done = await ingest(document, caller);
      await catchUp();
      return done;
    },
    settings: show,
    async configure(change) {
      await settings.change(change, runtime.now().toISOString());
      turns.look();
      await catchUp();
      return show();
    },
  };

  return {
    port,
    async open() {
      turns.look();
      await catchUp();
    },
    async close() {
      await turns.close();
      await vectors.close();
    },
  };
}
