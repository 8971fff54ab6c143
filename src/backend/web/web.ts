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
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const timeoutMs = (provider.timeout_seconds ?? seconds) * 1000;
    const { status, text } = await outbound({ ...asked, timeoutMs, maxBytes: MAX_BYTES, signal });
    // A service may repeat the key that it was given, in an error above all.
    return { status, text: provider.api_key ? text.replaceAll(provider.api_key, HIDDEN) : text };
  }

  async function searchAt(provider: KeyedProvider, query: string, wanted: number, signal: AbortSignal) {
    const adapter = SEARCH[provider.kind]!;
    const count = Math.min(wanted, provider.max_results ?? wanted);
    const answer = await ask(provider, adapter.ask(provider, query, count), SECONDS.search, signal);
    return { results: toResults(adapter.read(answer, nameOf(provider)), count) };
  }

  async function answerAt(
    provider: KeyedProvider,
    question: string,
    depth: 'quick' | 'deep',
    signal: AbortSignal,
  ) {
    const adapter = ANSWER[provider.kind]!;
    const http = await ask(provider, adapter.ask(provider, question, depth), SECONDS[depth], signal);
    const { text, citations } = adapter.read(http, nameOf(provider));
    const answer = toAnswerText(text);
    if (answer === '') throw new KaiwuError('provider_failed', `${nameOf(provider)} answered with no text.`);
    return { answer, citations: toCitations(citations) };
  }

  /** The first that serves; what others said before it is told. */
  async function first<T>(
    fits: (provider: WebProvider) => boolean,
    pinned: string | undefined,
    serve: (provider: KeyedProvider) => Promise<T>,
  ): Promise<T & { provider: string; untrusted: true; failed: WebFailure[] }> {
    const fitting = (await providers.keyed()).filter(fits);
    const chosen = pinned === undefined ? fitting : fitting.filter(({ id }) => id === pinned);
    if (chosen.length === 0) {
      throw unknownProvider(
        pinned ?? '',
        fitting.map(({ id }) => id),
      );
    }
    const failed: WebFailure[] = [];
    for (const provider of chosen) {
      try {
        return { provider: provider.id, untrusted: true, failed, ...(await serve(provider)) };
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
    search: ({ query, max_results: wanted = DEFAULT_RESULTS, pinned, kind }, signal) =>
      first(
        (each) => each.kind in SEARCH && (kind === undefined || each.kind === kind),
        pinned,
        (provider) => searchAt(provider, query, wanted, signal),
      ),
    answer: ({ question, depth, pinned }, signal) =>
      first(
        (each) => each.kind in ANSWER,
        pinned,
        (provider) => answerAt(provider, question, depth, signal),
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
      const took = () => Math.round(runtime.monotonicMs() - before);
      try {
        if (provider.kind in SEARCH) await searchAt(provider, 'test', 1, signal);
        else await answerAt(provider, 'Answer with one word: ok', 'quick', signal);
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
