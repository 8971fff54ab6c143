import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../helpers/kaiwu.ts';
import { type FakeMcp, startFakeMcp } from '../managed/http-fakes.ts';
import { type HomeServer, homeServer } from './helpers/home-server.ts';
import { type Inside, openInside } from './helpers/inside.ts';

/*
 * What a person may rely on of their MCP servers, and where it is tested:
 *
 * disabled configuration                    here; test/core/managed/parse-config.test.ts
 * empty configuration                       here; test/local/mcp-servers-file.test.ts
 * malformed configuration                   here; test/local/mcp-servers-file.test.ts, test/core/managed/parse-config.test.ts
 * neither url nor command, both of them     here; test/core/managed/parse-config.test.ts
 * one failing server among three            here; test/managed/calls.test.ts
 * token to HTTP alone                       here; test/managed/http-network.test.ts
 * include, exclude, both, neither, unknown  here; test/core/managed/filter.test.ts
 * a list, one object, a map                 test/core/managed/parse-config.test.ts
 * inline, in a file                         test/app/mcp-servers-flag.test.ts, test/local/mcp-servers-file.test.ts
 * escape from the configuration's folder    test/local/mcp-servers-file.test.ts
 * over 4 MiB                                test/local/mcp-servers-file.test.ts, test/core/managed/parse-config.test.ts
 * session id missing first, then kept       here; test/managed/http-session.test.ts
 * bodies as JSON and as SSE                 test/managed/http-bodies.test.ts
 * 1,200 notifications before the answer     test/managed/calls.test.ts, test/managed/http-bodies.test.ts
 * 20,000 lines of stderr                    test/managed/stdio.test.ts
 * 12 callers at once                        here; test/managed/calls.test.ts
 * close during a call                       test/managed/calls.test.ts; here with the whole daemon
 * a failed close is tried again             test/managed/close.test.ts
 * empty discovery is not kept               here; test/managed/discovery.test.ts
 * a call longer than 60 s                   test/managed/calls.test.ts (600 s without a limit of its own)
 * a failed call is a result with its text   test/app/mcp-servers-commands.test.ts
 * the whole through every door              test/e2e/managed-doors.test.ts
 */

let folder: string;
let inside: Inside;
let remote: FakeMcp;
const path = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await makeFolder('kaiwu-seed-');
  write('{}');
  remote = await startFakeMcp();
  inside = await openInside({ KAIWU_MCP_SERVERS: path('servers.json') });
}, 90_000);
afterAll(async () => {
  await inside?.world.stop();
  await remote?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);
beforeEach(async () => {
  write('{}');
  // What is no longer in the file is still known, so that it is not trusted anew when it comes back; a person forgets it.
  const servers = await vi.waitFor(
    async () => {
      const { servers: left } = (await cli('servers', 'list')) as { servers: Listed[] };
      if (left.some(({ status }) => status !== 'disabled')) throw new Error(JSON.stringify(left));
      return left;
    },
    { timeout: 15_000, interval: 200 },
  );
  for (const { name } of servers) await cli('servers', 'remove', name);
}, 30_000);

const write = (value: unknown) =>
  writeFileSync(path('servers.json'), typeof value === 'string' ? value : JSON.stringify(value));
const cli = async (...args: string[]) => (await inside.world.cli(['mcp', ...args, '--json'])).json.output;

interface Listed {
  name: string;
  status: string;
  reason?: string;
  toolCounts: Record<string, number>;
}

/** Waits until the servers are these, in the words of a person: `name status, name status`. */
const until = (wanted: string): Promise<Listed[]> =>
  vi.waitFor(
    async () => {
      const { servers } = (await cli('servers', 'list')) as { servers: Listed[] };
      const is = `[${servers.map(({ name, status }) => `${name} ${status}`).join(', ')}]`;
      if (is !== wanted) throw new Error(`the servers are ${is}, not ${wanted}`);
      return servers;
    },
    { timeout: 15_000, interval: 200 },
  );
const problems = async () => JSON.stringify((await inside.world.cli(['daemon', 'status', '--json'])).json);
const home = (log: string, env: Record<string, string> = {}): HomeServer => homeServer(path(log), env);

describe('a configuration', () => {
  it('that is switched off, or empty, is no servers and no complaint', async () => {
    write({ mcpServers: { a: home('a.log').config } });
    await until('[a ready]');
    for (const none of [{ enabled: false, mcpServers: { a: home('a.log').config } }, [], '', '  \n']) {
      write({ mcpServers: { a: home('a.log').config } });
      await until('[a ready]');
      write(none);
      await until('[a disabled]');
      expect(await problems()).not.toContain('cannot be used');
    }
  });

  it('that is malformed is told with its place, kept as it is, and what ran goes on', async () => {
    const a = home('b.log');
    write({ mcpServers: { a: a.config } });
    await until('[a ready]');
    const damaged = '{"mcpServers": {"a": geheim}}';
    write(damaged);
    await vi.waitFor(async () => expect(await problems()).toMatch(/line 1, column 2\d/), { timeout: 15_000 });
    expect(await problems()).not.toContain('geheim');
    await until('[a ready, mcp-servers-file failed]');
    expect(a.pids()).toHaveLength(1);
    expect(readFileSync(path('servers.json'), 'utf8')).toBe(damaged);
  });

  it('whose entries have no way to a server, or two, or one that fails, loads the rest', async () => {
    write([
      { name: 'none' },
      { name: 'both', url: remote.url, command: 'x' },
      JSON.stringify({ name: 'good', ...home('c.log').config }),
      { name: 'far', url: remote.url },
      { name: 'bad', command: 'no-such-program' },
      { name: 'off', command: 'x', enabled: false },
    ]);
    const servers = await until(
      '[bad failed, far ready, good ready, mcp-servers-file degraded, off disabled]',
    );
    expect(servers[0]!.reason).toContain('no-such-program');
    const called = await cli('tools', 'call', 'good', 'turn_on', '--arguments', '{"room":"a"}');
    expect(JSON.parse(called.content[0].text)).toEqual({ called: 'turn_on', args: { room: 'a' } });
    expect(await problems()).toMatch(/none[\s\S]*neither url nor command/);
    expect(await problems()).toMatch(/both[\s\S]*both url and command/);
  });
});

describe('the filter of a server', () => {
  it.each<[string, object, string[]]>([
    ['neither', {}, ['backup', 'camera', 'fails', 'get_state', 'large', 'slow', 'turn_on', 'wipe']],
    ['include', { include_tools: ['turn_on', 'wi*'] }, ['turn_on', 'wipe']],
    ['exclude', { exclude_tools: ['*a*', 'slow'] }, ['turn_on', 'wipe']],
    ['both', { include_tools: ['turn_on', 'wipe'], exclude_tools: ['wipe'] }, ['turn_on']],
    ['unknown names', { include_tools: ['turn_on', 'nothing'], exclude_tools: ['none'] }, ['turn_on']],
  ])('%s', async (_, filter, wanted) => {
    write({ mcpServers: { a: { ...home('d.log').config, ...filter } } });
    await until('[a ready]');
    const { tools } = await cli('tools', 'list', 'a', '--state', 'available');
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(wanted);
  });
});

describe('a token', () => {
  it('is for HTTP alone, and the session of that server is missing at first and then kept', async () => {
    const seen = remote.seen.length;
    const program = { command: process.execPath, args: ['-e', TELLS_ENVIRONMENT], env: { OUT: path('env') } };
    write({
      mcpServers: {
        far: { url: remote.url, token: 'geheim-token' },
        near: { ...program, token: 'geheim-token' },
      },
    });
    await vi.waitFor(() => readFileSync(path('env'), 'utf8'), { timeout: 15_000 });
    await vi.waitFor(
      async () => expect(await cli('tools', 'call', 'far', 'echo')).toHaveProperty('content'),
      {
        timeout: 15_000,
      },
    );
    await cli('tools', 'call', 'far', 'echo');
    expect(readFileSync(path('env'), 'utf8')).not.toContain('geheim');
    const requests = remote.seen.slice(seen).map(({ http }) => http.headers);
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer geheim-token']),
    );
    const [first, ...rest] = requests.map((headers) => headers['mcp-session-id']);
    expect(first).toBeUndefined();
    expect(new Set(rest.filter((id) => id !== undefined)).size).toBe(1);
    expect(rest.at(-1)).toBeDefined();
  });
});

/** A program that writes down its environment and its arguments, and says nothing. */
const TELLS_ENVIRONMENT =
  "require('node:fs').writeFileSync(process.env.OUT, JSON.stringify([process.env, process.argv])); process.stdin.resume()";

describe('a server', () => {
  it('gives twelve callers at once each their own answer, from one process', async () => {
    const a = home('e.log');
    write({ mcpServers: { a: a.config } });
    await until('[a ready]');
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const args = { room: `room ${i}` };
        const { content } = await inside.api.output('mcp.tool.call', {
          server: 'a',
          tool: 'turn_on',
          arguments: args,
        });
        return JSON.parse(content[0].text).args.room as string;
      }),
    );
    expect(answers).toEqual(Array.from({ length: 12 }, (_, i) => `room ${i}`));
    expect(a.pids()).toHaveLength(1);
  });

  it('that lists nothing at first is not remembered as empty', async () => {
    writeFileSync(path('tools.json'), '[]');
    write({ mcpServers: { a: home('f.log', { TOOLS: path('tools.json') }).config } });
    await vi.waitFor(
      () =>
        expect(
          home('f.log')
            .log()
            .filter(({ method }) => method === 'tools/list').length,
        ).toBeGreaterThan(1),
      {
        timeout: 15_000,
      },
    );
    writeFileSync(path('tools.json'), JSON.stringify([{ name: 'late', inputSchema: { type: 'object' } }]));
    await vi.waitFor(
      async () => {
        const { tools } = await cli('tools', 'list', 'a');
        expect(tools).toMatchObject([{ name: 'late', state: 'available' }]);
      },
      { timeout: 15_000, interval: 200 },
    );
  });

  it('that is taken out in the middle of a call ends the call', async () => {
    const a = home('g.log');
    write({ mcpServers: { a: a.config } });
    await until('[a ready]');
    const call = inside.api.call('mcp.tool.call', { server: 'a', tool: 'slow' });
    await vi.waitFor(() => expect(a.calls()).toEqual(['slow']), { timeout: 15_000 });
    write('{}');
    expect(await call).toMatchObject({
      status: 'error',
      error: { code: 'tool_failed', message: expect.stringContaining('cut off') },
    });
    await until('[a disabled]');
  });
});
