import { type FakeProvider, startFakeProvider } from '../../backend/web/fake-providers.ts';
import type { Api } from './api.ts';

const FOUND = { results: [{ title: 'SQLite FTS5', url: 'https://sqlite.example/', content: 'Full text.' }] };
const SAID = { choices: [{ message: { content: 'The newest one.' } }] };

/** Services on this machine for the examples that search or answer by one. */
export function createWebStandIns(api: Api) {
  const running = new Map<string, Promise<FakeProvider>>();

  async function provide(kind: 'searxng' | 'openai', id: string = kind): Promise<void> {
    const service = running.get(kind) ?? startFakeProvider(kind === 'searxng' ? FOUND : SAID);
    running.set(kind, service);
    const { url } = await service;
    const more = kind === 'openai' ? { model: 'tiny' } : {};
    await api.output('provider.set', { id, kind, base_url: url, ...more });
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each knows its own example
  const preparations: Record<string, (input: any) => Promise<unknown>> = {};
  const prepare = (actionId: string, work: (input: { id: string }) => Promise<void>) => {
    preparations[actionId] = async (input) => {
      await work(input);
      return input;
    };
  };
  for (const id of ['web.search', 'searxng.search']) prepare(id, () => provide('searxng'));
  prepare('web.answer', () => provide('openai'));
  for (const id of ['provider.test', 'provider.remove']) prepare(id, ({ id }) => provide('searxng', id));

  return {
    preparations,
    async end() {
      for (const service of running.values()) await (await service).close();
    },
  };
}
