import type { Capabilities } from '../../core/catalog.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Outbound } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { ProviderKind, WebFailure, WebPort, WebProvider } from '../../core/ports/web.ts';
import { HIDDEN } from '../../core/redact.ts';
import type { Sealer } from '../managed/seal.ts';
import type { BackendStore } from '../store/store.ts';
import type { AnswerAdapter, Asked, HttpAnswer, KeyedProvider, SearchAdapter } from './adapter.ts';
import { brave } from './brave.ts';
import { toAnswerText, toCitations, toResults } from './clean.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { createProviders, unknownProvider } from './providers.ts';
import { searxng } from './searxng.ts';
import { tavily } from './tavily.ts';

const SEARCH: Partial<Record<ProviderKind, SearchAdapter>> = { searxng, brave, tavily };
const ANSWER: Partial<Record<ProviderKind, AnswerAdapter>> = { openai, gemini };

/** Seconds for one provider, where it says nothing else. */
const SECONDS = { search: 10, quick: 45, deep: 90 };
const DEFAULT_RESULTS = 10;
const MAX_BYTES = 2 * 1024 * 1024;

/** Milliseconds that one provider may take of the time of its call. */
interface Limits {
  shareMs: number;
  signal: AbortSignal;
}

export interface Web {
  port: WebPort;
  capabilities: Capabilities;
  open(): Promise<void>;
}

/** @param searxng one from the environment */
export function createWeb(options: {
  store: Pick<BackendStore, 'settings' | 'feed'>;
  sealer: Sealer;
  outbound: Outbound;
  runtime: Runtime;
  searxng?: WebProvider;
}): Web {
  const { store, sealer, outbound, runtime, searxng: fixed } = options;
  const providers = createProviders({
    settings: store.settings,
    sealer,
    fixed,
    onChange: () => store.feed.append({ type: 'catalog.changed' }),
  });

  async function ask(
    provider: KeyedProvider,
    asked: Asked,
    seconds: number,
    { shareMs, signal }: Limits,
  ): Promise<HttpAnswer> {
    const timeoutMs = Math.ceil(Math.min((provider.timeout_seconds ?? seconds) * 1000, shareMs));
    const { status, text } = await outbound({ ...asked, timeoutMs, maxBytes: MAX_BYTES, signal });
    // A service may repeat the key that it was given, in an error above all.
    return { status, text: provider.api_key ? text.replaceAll(provider.api_key, HIDDEN) : text };
  }

  async function searchAt(provider: KeyedProvider, query: string, wanted: number, limits: Limits) {
    const adapter = SEARCH[provider.kind]!;
    const count = Math.min(wanted, provider.max_results ?? wanted);
    const answer = await ask(provider, adapter.ask(provider, query, count), SECONDS.search, limits);
    return { results: toResults(adapter.read(answer, nameOf(provider)), count) };
  }

  async function answerAt(
    provider: KeyedProvider,
    question: string,
    depth: 'quick' | 'deep',
    limits: Limits,
  ) {
    const adapter = ANSWER[provider.kind]!;
    const http = await ask(provider, adapter.ask(provider, question, depth), SECONDS[depth], limits);
    const { text, citations } = adapter.read(http, nameOf(provider));
    const answer = toAnswerText(text);
    if (answer === '') throw new KaiwuError('provider_failed', `${nameOf(provider)} answered with no text.`);
    return { answer, citations: toCitations(citations) };
  }

  const isGone = (id: string): boolean => providers.shown().every((each) => each.id !== id);

  /** What a removed one says does not count any more, be it an answer or an error. */
  async function unlessRemoved<T>(provider: WebProvider, serve: () => Promise<T>): Promise<T> {
    const answer = isGone(provider.id) ? undefined : await Promise.allSettled([serve()]);
    if (answer === undefined || isGone(provider.id)) {
      throw new KaiwuError('provider_failed', `${nameOf(provider)} was removed meanwhile.`);
    }
    const [settled] = answer;
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  }

  /** The first that serves; what others said before it is told. */
  async function first<T>(
    fits: (provider: WebProvider) => boolean,
    { pinned, seconds }: { pinned?: string | undefined; seconds: number },
    signal: AbortSignal,
    serve: (provider: KeyedProvider, limits: Limits) => Promise<T>,
  ): Promise<T & { provider: string; untrusted: true; failed: WebFailure[] }> {
    const end = runtime.monotonicMs() + seconds * 1000;
    const fitting = (await providers.keyed()).filter(fits);
    const chosen = pinned === undefined ? fitting : fitting.filter(({ id }) => id === pinned);
    if (chosen.length === 0 && pinned === undefined) {
      throw new KaiwuError('provider_failed', 'The last provider for this was removed meanwhile.', {
        hint: 'Set one up: `kaiwu providers set`.',
      });
    }
    if (chosen.length === 0) {
      throw unknownProvider(
        pinned!,
        fitting.map(({ id }) => id),
      );
    }
    const failed: WebFailure[] = [];
    for (const [index, provider] of chosen.entries()) {
      // None takes so much that nothing is left for those after it.
      const shareMs = Math.max(1, (end - runtime.monotonicMs()) / (chosen.length - index));
      try {
        const answer = await unlessRemoved(provider, () => serve(provider, { shareMs, signal }));
        return { provider: provider.id, untrusted: true, failed, ...answer };
      } catch (error) {
        if (!(error instanceof KaiwuError) || error.code !== 'provider_failed') throw error;
        if (chosen.length === 1) throw error;
        failed.push({ provider: provider.id, message: error.message });
      }
    }
    throw new KaiwuError(
      'provider_failed',
      `No provider served: ${failed.map(({ provider, message }) => `${provider}: ${message}`).join(' ')}`,
      { hint: 'See which with `kaiwu providers test`.', details: { failed } },
    );
  }

  const find = (id: string) => {
    const shown = providers.shown();
    const found = shown.find((each) => each.id === id);
    if (found !== undefined) return found;
    throw unknownProvider(
      id,
      shown.map((each) => each.id),
    );
  };

  const port: WebPort = {
    search: ({ query, max_results: wanted = DEFAULT_RESULTS, kind, ...how }, signal) =>
      first(
        (each) => each.kind in SEARCH && (kind === undefined || each.kind === kind),
        how,
        signal,
        (provider, limits) => searchAt(provider, query, wanted, limits),
      ),
    answer: ({ question, depth, ...how }, signal) =>
      first(
        (each) => each.kind in ANSWER,
        how,
        signal,
        (provider, limits) => answerAt(provider, question, depth, limits),
      ),
    providers: async () => providers.shown(),
    async set(provider, key) {
      await providers.set(provider, key);
      return find(provider.id);
    },
    remove: (id) => providers.remove(id),
    async test(id, signal) {
      find(id);
      const provider = (await providers.keyed()).find((each) => each.id === id)!;
      const before = runtime.monotonicMs();
      const limits = { shareMs: Number.POSITIVE_INFINITY, signal };
      const took = () => Math.round(runtime.monotonicMs() - before);
      try {
        if (provider.kind in SEARCH) await searchAt(provider, 'test', 1, limits);
        else await answerAt(provider, 'Answer with one word: ok', 'quick', limits);
        return { ok: true, milliseconds: took() };
      } catch (error) {
        if (!(error instanceof KaiwuError) || error.code !== 'provider_failed') throw error;
        return { ok: false, milliseconds: took(), message: error.message };
      }
    },
  };
  return { port, capabilities: providers, open: providers.open };
}

const nameOf = ({ id }: WebProvider): string => `The provider ${id}`;
