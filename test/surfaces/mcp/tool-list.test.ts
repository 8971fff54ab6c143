import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { TOKEN } from './helpers/fake-backend.ts';
import { type Host, modernMeta, until } from './helpers/host.ts';
import { TOOL_COUNT, toManifest } from './helpers/manifests.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();
const NO_TITLES = { 'session.title.set': { mcp: { enabled: false } } };
const CHANGED = 'notifications/tools/list_changed';

async function names(host: Host, params?: Record<string, unknown>): Promise<string[]> {
  const { result } = await host.request('tools/list', params);
  return result.tools.map(({ name }: { name: string }) => name);
}
const changes = (host: Host) => host.messages().filter(({ method }) => method === CHANGED).length;

describe('a change of the policy', () => {
  test('reaches a host that shook hands', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    expect(await names(host)).toContain('change_title');
    await until('the stream', () => backend.streams.size === 1);
    backend.setPolicy(NO_TITLES);
    await host.message(({ method }) => method === CHANGED);
    expect(await names(host)).not.toContain('change_title');
    backend.setPolicy({});
    await until('the second change', () => changes(host) === 2);
    expect(await names(host)).toContain('change_title');
    expect(backend.streams.size).toBe(1);
  });

  test('reaches a host of the stateless generation that subscribed, and only then', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    expect(await names(host, { _meta: modernMeta() })).toContain('change_title');
    await until('the stream', () => backend.streams.size === 1);
    backend.setPolicy(NO_TITLES);
    await until(
      'the fetch',
      () => backend.requests.filter((line) => line === 'GET /v1/catalog 200').length === 2,
    );
    const notifications = { toolsListChanged: true };
    host.send({ id: 'sub', method: 'subscriptions/listen', params: { notifications, _meta: modernMeta() } });
    await host.message(({ method }) => method === 'notifications/subscriptions/acknowledged');
    expect(changes(host)).toBe(0);
    backend.setPolicy({ 'session.list': { mcp: { enabled: false } } });
    const note = await host.message(({ method }) => method === CHANGED);
    expect(note.params?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/subscriptionId': 'sub' });
    expect(await names(host, { _meta: modernMeta() })).not.toContain('session_list');
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
  });

  test('reaches the official client in both generations', async () => {
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const backend = await setup.backend();
      const { command, args } = await setup.command();
      let heard: () => void = () => undefined;
      const changed = new Promise<void>((resolve) => {
        heard = resolve;
      });
      const listChanged = { tools: { onChanged: () => heard() } };
      const client = new Client({ name: 'h', version: '1' }, { versionNegotiation: { mode }, listChanged });
      setup.onEnd(() => client.close());
      await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
      await client.listTools();
      await until('the stream', () => backend.streams.size === 1);
      backend.setPolicy(NO_TITLES);
      await changed;
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('change_title');
    }
  });

  test('that leaves the list as it was is not told', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await names(host);
    await until('the stream', () => backend.streams.size === 1);
    const fetched = () => backend.requests.filter((line) => line.startsWith('GET /v1/catalog')).length;
    const before = fetched();
    backend.setPolicy({ 'shell.only': { cli: { enabled: false } } });
    await until('the fetch', () => fetched() > before);
    await host.request('ping');
    expect(changes(host)).toBe(0);
  });

  test('is not followed before the host asked for the list', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await until('the fetch', () => backend.requests.length > 0);
    await host.request('ping');
    expect(backend.requests).toEqual(['GET /v1/catalog 200']);
  });
});

describe('the last list seen', () => {
  test('is kept with its tag, and asked about rather than fetched again', async () => {
    const backend = await setup.backend();
    const cacheFile = await setup.path('cache.json');
    const first = await setup.host({ cacheFile });
    await first.initialize();
    await names(first);
    await until('the first fetch', () => backend.requests.includes('GET /v1/catalog 200'));
    first.child.stdin?.end();
    await first.exit();
    expect(JSON.parse(await readFile(cacheFile, 'utf8'))).toMatchObject({ etag: '"fake-0-0"' });
    backend.requests.length = 0;
    const second = await setup.host({ cacheFile });
    await second.initialize();
    expect(await names(second)).toContain('change_title');
    expect(backend.requests).not.toContain('GET /v1/catalog 200');
    expect(backend.requests).toContain('GET /v1/catalog 304');
  });

  test('is told while the backend is out of reach, else the defaults', async () => {
    const backend = await setup.backend([toManifest('only.one')]);
    const cacheFile = await setup.path('cache.json');
    const first = await setup.host({ cacheFile });
    await first.initialize();
    expect(await names(first)).toEqual(['only_one']);
    first.child.stdin?.end();
    await first.exit();
    await backend.stop();
    const second = await setup.host({ cacheFile });
    await second.initialize();
    expect(await names(second)).toEqual(['only_one']);
    const third = await setup.host();
    await third.initialize();
    expect(await names(third)).toContain('change_title');
  });

  test('is told soon although the backend does not answer', async () => {
    const backend = await setup.backend([toManifest('only.one')]);
    backend.hangCatalog = true;
    const host = await setup.host();
    await host.initialize();
    const from = performance.now();
    expect(await names(host)).toContain('change_title');
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});

describe('a backend that goes away', () => {
  test('and comes back is found again by itself, and the host hears of the other list', async () => {
    const backend = await setup.backend();
    await backend.stop();
    const host = await setup.host();
    await host.initialize();
    expect(await names(host)).toContain('change_title');
    backend.policy = { version: 7, rules: NO_TITLES };
    await backend.start(backend.port);
    await host.message(({ method }) => method === CHANGED);
    expect(await names(host)).not.toContain('change_title');
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.isError).toBeUndefined();
  });

  test('while it is followed is found again, and the host hears what changed meanwhile', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await names(host);
    await until('the stream', () => backend.streams.size === 1);
    await backend.stop();
    const down = await host.request('tools/call', { name: 'session_list' });
    expect(down.result.structuredContent.error.code).toBe('backend_unreachable');
    expect(await names(host)).toContain('change_title');
    backend.policy = { version: 7, rules: NO_TITLES };
    await backend.start(backend.port);
    await host.message(({ method }) => method === CHANGED);
    expect(await names(host)).not.toContain('change_title');
    await until('the stream', () => backend.streams.size === 1);
    expect(changes(host)).toBe(1);
  });

  test('and comes back at another address is found there', async () => {
    const backend = await setup.backend();
    const host = await setup.host({ timing: { movedMs: 50 } });
    await host.initialize();
    await names(host);
    await until('the stream', () => backend.streams.size === 1);
    await backend.stop();
    const down = await host.request('tools/call', { name: 'session_list' });
    expect(down.result.structuredContent.error.code).toBe('backend_unreachable');
    backend.policy = { version: 7, rules: NO_TITLES };
    await backend.start();
    await host.changeOptions({ url: backend.url });
    await host.message(({ method }) => method === CHANGED);
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.isError).toBeUndefined();
    expect(host.noise()).toEqual([]);
    expect(host.stderr()).not.toContain('cannot be followed');
  });

  test('is called where it moved to, once', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await host.request('tools/call', { name: 'session_list' });
    await backend.stop();
    await backend.start();
    await host.changeOptions({ url: backend.url });
    // A call that is written to a connection just as that ends may have been taken, so it is not made anew. The first that finds
    // nobody there is.
    const call = async () =>
      (await host.request('tools/call', { name: 'session_title_set' })).result.structuredContent.actionId;
    await expect.poll(call).toBe('session_title_set');
    expect(backend.calls).toHaveLength(2);
  });

  test('lets a new sign-in be found too', async () => {
    await setup.backend();
    const host = await setup.host({ token: 'revoked' });
    await host.initialize();
    const refused = await host.request('tools/call', { name: 'session_list' });
    expect(refused.result.structuredContent.error.code).toBe('not_authenticated');
    await host.changeOptions({ token: TOKEN });
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.isError).toBeUndefined();
  });
});

test('a cache that cannot be written does not matter', async () => {
  await setup.backend();
  const cacheFile = await setup.path('x');
  await writeFile(cacheFile, '');
  const host = await setup.host({ cacheFile: `${cacheFile}/not/a/folder` });
  await host.initialize();
  expect(await names(host)).toHaveLength(TOOL_COUNT);
});
