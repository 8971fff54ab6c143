import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { modernMeta } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();
const NAMES = [
  'action_execute',
  'action_spec_search',
  'session_list',
  'session_message_send',
  'session_title_set',
  'change_title',
];

describe('the handshake', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('agrees on %s', async (version) => {
    await setup.backend();
    const host = await setup.host();
    const { result } = await host.initialize(version);
    expect(result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'kaiwu', version: '0.0.0' },
    });
    const list = await host.request('tools/list');
    expect(list.result.tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
  });

  test.each(['1999-01-01', '2026-07-28', '2099-12-31'])(
    'answers %s with a version of its own',
    async (version) => {
      await setup.backend();
      const host = await setup.host();
      const { result } = await host.initialize(version);
      expect(result.protocolVersion).toBe('2025-11-25');
    },
  );

  test('a call before it is refused and does nothing', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    const refused = await host.request('tools/call', { name: 'session_list', arguments: {} });
    expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining('initialize') });
    expect(backend.calls).toEqual([]);
    expect((await host.initialize()).result.protocolVersion).toBe('2025-11-25');
    const called = await host.request('tools/call', { name: 'session_list', arguments: {} });
    expect(called.result.isError).toBeUndefined();
  });

  test('is answered although the backend hangs', async () => {
    const backend = await setup.backend();
    backend.hangCatalog = true;
    const host = await setup.host();
    expect((await host.initialize()).result.serverInfo.name).toBe('kaiwu');
  });
});

describe('the stateless generation', () => {
  test('is discovered and used without a handshake', async () => {
    await setup.backend();
    const host = await setup.host();
    const found = await host.request('server/discover', { _meta: modernMeta() });
    expect(found.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
    });
    const list = await host.request('tools/list', { _meta: modernMeta() });
    expect(list.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    expect(list.result.ttlMs).toBeGreaterThanOrEqual(0);
    expect(list.result.tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
  });

  test('may be looked for by a host that then shakes hands', async () => {
    await setup.backend();
    const host = await setup.host();
    expect((await host.request('server/discover', { _meta: modernMeta() })).result).toBeDefined();
    expect((await host.initialize('2025-06-18')).result.protocolVersion).toBe('2025-06-18');
    expect((await host.request('tools/list')).result.tools).toHaveLength(NAMES.length);
  });

  test('refuses an unknown revision and names its own', async () => {
    await setup.backend();
    const host = await setup.host();
    const meta = { ...modernMeta(), 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const refused = await host.request('server/discover', { _meta: meta });
    expect(refused.error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } });
    expect((await host.initialize()).result).toBeDefined();
  });
});

describe('official clients', () => {
  test.each([
    ['legacy', 'legacy' as const],
    ['negotiated', 'auto' as const],
    ['pinned to 2026-07-28', { pin: '2026-07-28' }],
  ])('v2, %s', async (_, mode) => {
    const backend = await setup.backend();
    const { command, args } = await setup.command();
    const client = new Client2({ name: 'Some Host', version: '3' }, { versionNegotiation: { mode } });
    setup.onEnd(() => client.close());
    await client.connect(new Stdio2({ command, args, stderr: 'ignore' }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'session_list', arguments: { text: 'x' } });
    expect(result.structuredContent).toMatchObject({ actionId: 'session_list', input: { text: 'x' } });
    expect(backend.calls.at(-1)?.context).toMatchObject({ surface: 'mcp', client: 'mcp:some-host' });
  });

  test('v1', async () => {
    const backend = await setup.backend();
    const { command, args } = await setup.command();
    const client = new Client1({ name: 'older-host', version: '1' });
    setup.onEnd(() => client.close());
    await client.connect(new Stdio1({ command, args, stderr: 'ignore' }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'change_title', arguments: { title: 'T' } });
    expect(result.structuredContent).toMatchObject({ actionId: 'change_title', input: { title: 'T' } });
    expect(backend.calls.at(-1)?.context.client).toBe('mcp:older-host');
  });
});
