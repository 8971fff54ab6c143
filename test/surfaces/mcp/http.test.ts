import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { CallWithdrawn } from '../../../src/core/call.ts';
import { type HttpWorld, onEnd, startHttpWorld } from './helpers/http-world.ts';

const NAMES = [
  'action_execute',
  'action_spec_search',
  'session_list',
  'session_message_send',
  'session_title_set',
  'change_title',
];
const MODES = [
  ['legacy', 'legacy' as const],
  ['negotiated', 'auto' as const],
  ['pinned to 2026-07-28', { pin: '2026-07-28' }],
] as const;

type Mode = (typeof MODES)[number][1];

async function connect2({ http, bearer }: HttpWorld, mode: Mode = 'auto', options = {}): Promise<Client2> {
  const client = new Client2(
    { name: 'Some Host', version: '3' },
    { versionNegotiation: { mode }, ...options },
  );
  onEnd(() => client.close());
  const requestInit = { headers: { Authorization: `Bearer ${bearer}` } };
  await client.connect(new Http2(new URL(http.url), { requestInit }));
  return client;
}

async function connect1({ http, bearer }: HttpWorld): Promise<Client1> {
  const client = new Client1({ name: 'older-host', version: '1' });
  onEnd(() => client.close());
  const requestInit = { headers: { Authorization: `Bearer ${bearer}` } };
  await client.connect(new Http1(new URL(http.url), { requestInit }));
  return client;
}

describe('official clients', () => {
  test.each(MODES)('v2, %s', async (_, mode) => {
    const world = await startHttpWorld();
    const client = await connect2(world, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'session_list', arguments: { text: 'x' } });
    expect(result.structuredContent).toMatchObject({ actionId: 'session_list', input: { text: 'x' } });
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }]);
    expect(world.backend.calls.at(-1)?.context).toMatchObject({ surface: 'mcp', client: 'mcp:some-host' });
    expect(world.errors).toEqual([]);
  });

  test('v1', async () => {
    const world = await startHttpWorld();
    const client = await connect1(world);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'change_title', arguments: { title: 'T' } });
    expect(result.structuredContent).toMatchObject({ actionId: 'change_title', input: { title: 'T' } });
    expect(world.backend.calls.at(-1)?.context.client).toBe('mcp:older-host');
    expect(client.getInstructions()).toBe('Test.');
    await client.ping();
  });

  test('20 calls at once, of hosts of both kinds', async () => {
    const world = await startHttpWorld();
    const hosts = [await connect2(world), await connect1(world)];
    world.backend.answer = ({ input }) => ({ status: 'ok', output: { input } });
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        hosts[n % 2]!.callTool({ name: 'session_list', arguments: { text: `${n}` } }),
      ),
    );
    expect(results.map(({ structuredContent }) => structuredContent)).toEqual(
      Array.from({ length: 20 }, (_, n) => ({ input: { text: `${n}` } })),
    );
  });

  test('an error of a call is a result, and says what to do', async () => {
    const world = await startHttpWorld();
    const client = await connect2(world);
    await world.backend.stop();
    const result = await client.callTool({ name: 'session_list', arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'backend_unreachable', hint: expect.any(String) } },
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    await world.backend.start(world.backend.port);
    expect((await client.callTool({ name: 'session_list', arguments: {} })).isError).toBeUndefined();
  });
});

describe('what goes on', () => {
  test.each(MODES)('is told to a host that asked for it: v2, %s', async (_, mode) => {
    const world = await startHttpWorld({ timing: { progressMs: 5 } });
    const client = await connect2(world, mode);
    let finish = () => {};
    const told = new Promise<void>((resolve) => {
      finish = resolve;
    });
    world.backend.answer = async () => {
      await told;
      return { status: 'ok', output: { done: true } };
    };
    const heard: unknown[] = [];
    const onprogress = (progress: unknown) => {
      heard.push(progress);
      if (heard.length === 2) finish();
    };
    const result = await client.callTool({ name: 'session_list', arguments: {} }, { onprogress });
    expect(result.structuredContent).toEqual({ done: true });
    expect(heard.length).toBeGreaterThanOrEqual(2);
    expect(world.backend.calls[0]?.context.maxWaitSeconds).toBe(3600);
  });

  test('a wait ends within what hosts bear where nobody follows it', async () => {
    const world = await startHttpWorld();
    await (await connect2(world)).callTool({ name: 'session_list', arguments: {} });
    expect(world.backend.calls[0]?.context.maxWaitSeconds).toBe(45);
  });
});

describe('a change of the policy', () => {
  const HIDE = { 'session.list': { mcp: { enabled: false } } };

  test.each(MODES)('reaches a host that follows it: v2, %s', async (_, mode) => {
    const world = await startHttpWorld();
    let heard = (_names: string[]) => {};
    const changed = new Promise<string[]>((resolve) => {
      heard = resolve;
    });
    const onChanged = (_error: unknown, tools: { name: string }[] | null) =>
      heard((tools ?? []).map(({ name }) => name));
    const client = await connect2(world, mode, { listChanged: { tools: { onChanged } } });
    await client.listTools();
    await expect.poll(() => world.backend.streams.size).toBe(1);
    world.backend.setPolicy(HIDE);
    expect(await changed).toEqual(NAMES.filter((name) => name !== 'session_list'));
  });

  test('reaches an older host', async () => {
    const world = await startHttpWorld();
    const client = await connect1(world);
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
    );
    await client.listTools();
    await expect.poll(() => world.backend.streams.size).toBe(1);
    world.backend.setPolicy(HIDE);
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('session_list');
  });
});

describe('a call that is taken back', () => {
  async function held(world: HttpWorld) {
    let entered = () => {};
    let gone = () => {};
    const came = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      gone = resolve;
    });
    world.backend.answer = (_call, signal) => {
      entered();
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          gone();
          resolve({ status: 'ok', output: {} });
        }),
      );
    };
    return { came, ended };
  }
  const withdrawn = ({ backend }: HttpWorld) =>
    backend.requests.filter((name) => name.includes('/withdraw')).length;

  test.each(MODES)('ends in the backend too: v2, %s', async (_, mode) => {
    const world = await startHttpWorld();
    const client = await connect2(world, mode);
    const { came, ended } = await held(world);
    const controller = new AbortController();
    const call = client.callTool({ name: 'session_list', arguments: {} }, { signal: controller.signal });
    const settled = call.then(
      () => 'answered',
      () => 'given up',
    );
    await came;
    controller.abort(new CallWithdrawn());
    expect(await settled).toBe('given up');
    await ended;
    expect(withdrawn(world)).toBe(1);
  });

  test('an older host', async () => {
    const world = await startHttpWorld();
    const client = await connect1(world);
    const { came, ended } = await held(world);
    const controller = new AbortController();
    const call = client.callTool({ name: 'session_list', arguments: {} }, undefined, {
      signal: controller.signal,
    });
    const settled = call.catch(() => 'given up');
    await came;
    controller.abort();
    expect(await settled).toBe('given up');
    await ended;
    expect(withdrawn(world)).toBe(1);
  });

  test('by a host that only went away ends, and no more than that', async () => {
    const world = await startHttpWorld();
    const { came, ended } = await held(world);
    const controller = new AbortController();
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'session_list' } };
    const cut = fetch(world.http.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal: controller.signal,
    }).catch(() => 'cut');
    await came;
    controller.abort();
    await ended;
    expect(await cut).toBe('cut');
    expect(withdrawn(world)).toBe(0);
  });

  test('when its door closes, the call ends and the bearer is dead', async () => {
    const world = await startHttpWorld();
    const { came, ended } = await held(world);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'session_list' } };
    const call = world.raw(message).catch(() => 'cut');
    await came;
    world.shut();
    await ended;
    expect(await call).toBe('cut');
    expect((await world.raw(message)).status).toBe(401);
    expect(withdrawn(world)).toBe(0);
  });
});
