import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../helpers/world.ts';
import type { Api } from './helpers/api.ts';
import { type Inside, openInside } from './helpers/inside.ts';

/** Stands in for agents that tell what they were given: the message `received` is answered with it. */
const TELLING = join(import.meta.dirname, '../daemon/fakes/agent.mjs');

interface Given {
  name: string;
  url?: string;
  headers?: { name: string; value: string }[];
  command?: string;
  args?: string[];
  env?: { name: string; value: string }[];
}

let world: World;
let api: Api;
let spawn: Inside['spawn'];
let say: Inside['say'];
let tool: Inside['tool'];

/** The MCP server that the agent of a session was given, as that agent tells it. */
async function givenTo(sessionId: string): Promise<Given> {
  const received = JSON.parse(await say(sessionId, 'received')) as {
    method?: string;
    params?: { mcpServers?: Given[] };
  }[];
  const opened = received.findLast(({ params }) => params?.mcpServers !== undefined);
  expect(opened?.params?.mcpServers).toHaveLength(1);
  return opened!.params!.mcpServers![0]!;
}

async function connect(given: Given): Promise<Client> {
  const client = new Client({ name: 'held-outside', version: '1' });
  const pairs = (list: { name: string; value: string }[] = []) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  await client.connect(
    given.url === undefined
      ? new StdioClientTransport({ command: given.command!, args: given.args!, env: pairs(given.env) })
      : new StreamableHTTPClientTransport(new URL(given.url), {
          requestInit: { headers: pairs(given.headers) },
        }),
  );
  return client;
}

beforeAll(async () => {
  ({ world, api, spawn, say, tool } = await openInside());
  for (const [name, http] of [
    ['over-http', true],
    ['over-stdio', false],
  ] as const) {
    const capabilities = JSON.stringify({
      loadSession: true,
      ...(http ? { mcpCapabilities: { http } } : {}),
    });
    const command = ['--', process.execPath, TELLING, 'plain'];
    const given = ['--env', `FAKE_CAPABILITIES=${capabilities}`];
    const added = await world.cli(['agents', 'add', name, ...given, ...command]);
    if (added.code !== 0) throw new Error(added.stderr);
  }
}, 90_000);
afterAll(() => world?.stop(), 60_000);

describe('the bearer of a session', () => {
  test.each(['over-http', 'over-stdio'])(
    '%s: is good while its agent runs, and no longer',
    async (agentId) => {
      const sessionId = await spawn(agentId);
      const given = await givenTo(sessionId);
      expect(given.name).toBe('kaiwu');
      expect(given.url === undefined).toBe(agentId === 'over-stdio');
      expect(JSON.stringify(given)).not.toMatch(/kw_|sess_/);
      const client = await connect(given);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
      const titled = { name: 'change_title', arguments: { title: 'Held' } };
      expect((await client.callTool(titled)).structuredContent).toMatchObject({ sessionId, title: 'Held' });
      await api.output('session.stop', { sessionId });
      await expect(client.callTool(titled)).rejects.toThrow(/Unauthorized|cannot be reached/i);
      await client.close().catch(() => undefined);
      await expect(connect(given)).rejects.toThrow(/Unauthorized|cannot be reached/i);
    },
  );

  test('while the backend is away its tools are listed and its calls answered, and they work when it is back', async () => {
    const known = await connect(await givenTo(await spawn('over-http')));
    const fresh = await connect(await givenTo(await spawn('over-http')));
    const titled = { name: 'change_title', arguments: { title: 'Held' } };
    expect((await known.callTool(titled)).isError).toBeUndefined();
    const { pid } = JSON.parse(readFileSync(join(world.home, 'backend/backend.json'), 'utf8')) as {
      pid: number;
    };
    // Nobody starts it again meanwhile.
    process.kill(world.pid, 'SIGSTOP');
    try {
      process.kill(pid, 'SIGKILL');
      for (const client of [known, fresh]) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
        const { structuredContent, isError } = await client.callTool(titled);
        expect(isError).toBe(true);
        expect(['backend_unreachable', 'machine_offline']).toContain(
          (structuredContent as { error: { code: string } }).error.code,
        );
      }
    } finally {
      process.kill(world.pid, 'SIGCONT');
    }
    const call = async (client: Client) => (await client.callTool(titled)).isError ?? false;
    for (const client of [known, fresh]) {
      await expect.poll(() => call(client), { timeout: 40_000 }).toBe(false);
      await client.close();
    }
  });

  test('a new start of the daemon gives a new one', async () => {
    const told = await spawn('over-http');
    const demo = await spawn();
    const before = await givenTo(told);
    await tool(demo, 'change_title', { title: 'Before' });
    const state = join(world.home, 'profiles/local/daemon.json');
    const pidNow = () => {
      try {
        return (JSON.parse(readFileSync(state, 'utf8')) as { pid: number }).pid;
      } catch {
        return undefined;
      }
    };
    const pid = pidNow()!;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => pidNow() ?? pid, { timeout: 40_000 }).not.toBe(pid);
    await expect(connect(before)).rejects.toThrow(/fetch failed|ECONNREFUSED|Unauthorized/i);
    expect(await tool(demo, 'change_title', { title: 'After' })).toMatchObject({ title: 'After' });
    const after = await givenTo(told);
    expect(after.headers).not.toEqual(before.headers);
    const client = await connect(after);
    expect((await client.listTools()).tools).not.toEqual([]);
    await client.close();
  });
});
