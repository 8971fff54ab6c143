import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MachineServer } from '../../src/core/link.ts';
import { MANAGED_LIMITS } from '../../src/core/managed/managed.ts';
import { homeServer } from '../e2e/helpers/home-server.ts';
import { isAlive, seenOf, waitGone } from '../helpers/processes.ts';
import type { FakeBackend } from './helpers/fake-backend.ts';
import { makePlace } from './helpers/place.ts';
import { createWorld, makeHome } from './helpers/world.ts';

const serverOf = (servers: MachineServer[] | undefined, key: string) =>
  servers?.find(({ state }) => state.key === key);
/** Waits until a server is in a state, as the backend was told. */
const until = (backend: FakeBackend, key: string, status = 'ready'): Promise<MachineServer> =>
  backend.until(() => {
    const server = serverOf(backend.reports.at(-1), key);
    return server?.state.status === status && server;
  }, `${key} to be ${status}`);

const call = (backend: FakeBackend, tool: string, args: Record<string, unknown> = {}, callId = tool) =>
  backend.request('mcp.call', { callId, key: 'a', tool, arguments: args, timeoutMs: 30_000 });

const CANARY = 'canary-s3cr3t-value';

it('servers of the account are run, told of, called and taken away', async () => {
  const home = makeHome();
  const server = homeServer(join(home, 'log'));
  const { backend } = await createWorld({ home, mcpServersFile: '[]' });
  await backend.request('mcp.apply', { servers: [{ key: 'a', config: { name: 'home', ...server.config } }] });
  const { state, config } = await until(backend, 'a');
  expect(state.tools?.map(({ name }) => name)).toContain('turn_on');
  expect(config).toBeUndefined();
  const result = await call(backend, 'turn_on', { room: 'hall', note: null });
  expect(JSON.parse(String(result.content[0]?.text))).toEqual({
    called: 'turn_on',
    args: { room: 'hall', note: null },
  });
  // The same again disturbs nothing; another call is of the same process.
  await backend.request('mcp.apply', { servers: [{ key: 'a', config: { name: 'home', ...server.config } }] });
  await Promise.all(Array.from({ length: 12 }, (_, i) => call(backend, 'get_state', {}, `c${i}`)));
  const [pid] = server.pids();
  const before = server.pids().map(seenOf).filter(isAlive);
  expect(before).toHaveLength(1);
  expect(pid).toBeDefined();
  await backend.request('mcp.apply', { servers: [] });
  expect(await waitGone(before, 15_000)).toEqual([]);
  await backend.until(() => backend.reports.at(-1)?.length === 0, 'no server');
  await expect(call(backend, 'get_state')).rejects.toMatchObject({ code: 'mcp_server_not_found' });
}, 60_000);

it('a call that is taken back reaches the server as canceled, by its own id', async () => {
  const home = makeHome();
  const server = homeServer(join(home, 'log'));
  const { backend } = await createWorld({ home, mcpServersFile: '[]' });
  await backend.request('mcp.apply', { servers: [{ key: 'a', config: { name: 'home', ...server.config } }] });
  await until(backend, 'a');
  const slow = call(backend, 'slow', {}, 'call-1').catch((error: unknown) => error);
  await expect.poll(() => server.calls(), { timeout: 20_000 }).toEqual(['slow']);
  await expect(call(backend, 'slow', {}, 'call-1')).rejects.toMatchObject({ code: 'conflict' });
  backend.notify('mcp.cancel', { callId: 'unknown' });
  backend.notify('mcp.cancel', { callId: 'call-1' });
  expect(await slow).toMatchObject({ code: 'canceled' });
  const { id } = server.log().find(({ method }) => method === 'tools/call')!;
  await expect
    .poll(() => server.log().find(({ method }) => method === 'notifications/cancelled')?.params?.requestId, {
      timeout: 20_000,
    })
    .toBe(id);
  // One whose backend is gone has nobody to answer to.
  const lost = call(backend, 'slow', {}, 'call-2').catch((error: unknown) => error);
  await expect.poll(() => server.calls(), { timeout: 20_000 }).toEqual(['slow', 'slow']);
  backend.drop();
  await lost;
  await expect
    .poll(() => server.log().filter(({ method }) => method === 'notifications/cancelled').length, {
      timeout: 20_000,
    })
    .toBe(2);
}, 60_000);

it('a call ends at its time, and a result that is too large is refused while the link stays', async () => {
  const home = makeHome();
  const server = homeServer(join(home, 'log'), { LARGE: String(MANAGED_LIMITS.result) });
  const { backend } = await createWorld({ home, mcpServersFile: '[]' });
  await backend.request('mcp.apply', { servers: [{ key: 'a', config: { name: 'home', ...server.config } }] });
  await until(backend, 'a');
  const slow = { callId: 's', key: 'a', tool: 'slow', arguments: {}, timeoutMs: 200 };
  await expect(backend.request('mcp.call', slow)).rejects.toMatchObject({ code: 'timeout' });
  await expect(call(backend, 'large')).rejects.toMatchObject({ code: 'payload_too_large' });
  expect((await call(backend, 'get_state')).structuredContent).toEqual({ lamps: 2 });
  expect(backend.hellos).toHaveLength(1);
}, 60_000);

it('servers of the machine’s own file run here, and their secrets stay here', async () => {
  const home = makeHome();
  const path = join(home, 'mcp-servers.json');
  const server = homeServer(join(home, 'log'), { API_KEY: CANARY });
  const entry = { ...server.config, args: [...server.config.args, '--token', CANARY, `--key=${CANARY}`] };
  const web = {
    url: `http://user:${CANARY}@127.0.0.1:1/${CANARY}?k=${CANARY}`,
    headers: { 'X-Api-Key': CANARY },
    token: CANARY,
  };
  writeFileSync(path, JSON.stringify({ mcpServers: { home: entry, web } }));
  const { backend, lines, daemon } = await createWorld({ home, mcpServersFile: path });
  const { config, secrets } = await until(backend, 'file:home');
  expect(config).toMatchObject({ name: 'home', command: process.execPath });
  expect(secrets).toEqual(expect.arrayContaining(['env.API_KEY', 'env.LOG']));
  const shown = serverOf(backend.reports.at(-1), 'file:web');
  expect(shown).toMatchObject({
    config: { url: 'http://127.0.0.1:1' },
    secrets: ['token', 'headers.X-Api-Key'],
  });

  // Another whole set comes from the account: those of the file go on.
  await backend.request('mcp.apply', { servers: [] });
  const asked = { callId: 'f', key: 'file:home', tool: 'get_state', arguments: {}, timeoutMs: 30_000 };
  expect((await backend.request('mcp.call', asked)).structuredContent).toEqual({ lamps: 2 });
  const forged = { servers: [{ key: 'file:home', config: { name: 'home', command: 'x' } }] };
  await expect(backend.request('mcp.apply', forged)).rejects.toMatchObject({ code: 'invalid_input' });

  // Damaged: told in the list and the status, and what ran goes on.
  writeFileSync(path, `{"mcpServers": {\n"home": {"env": {"K": "${CANARY}"`);
  const problem = await until(backend, 'file:mcp-servers-file', 'failed');
  expect(problem.state.reason).toMatch(/mcp-servers\.json.*line 2, column \d+.*last good version go on/);
  expect(daemon.status().managed?.own.problem).toContain(path);
  expect((await backend.request('mcp.call', { ...asked, callId: 'g' })).isError).toBeUndefined();
  expect(server.pids()).toHaveLength(1);

  // After a new hello all of it is told anew.
  const before = backend.reports.length;
  backend.drop();
  await backend.until(() => backend.reports.length > before, 'another report');
  expect(serverOf(backend.reports.at(-1), 'file:home')?.state.status).toBe('ready');
  const all = JSON.stringify([backend.reports, lines, daemon.status()]);
  expect(all).not.toContain(CANARY.slice(0, 8));
}, 60_000);

it('one server that is wrong does not keep the others from being ready', async () => {
  const home = makeHome();
  const good = homeServer(join(home, 'log'));
  const entries = [
    { name: 'gone', command: '/nonexistent/server' },
    { name: 'dies', command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(3)'] },
    { name: 'mute', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
    { name: 'good', ...good.config },
  ];
  const { backend } = await createWorld({ home, mcpServersFile: JSON.stringify(entries) });
  await until(backend, 'file:good');
  expect((await until(backend, 'file:gone', 'failed')).state.reason).toContain('/nonexistent/server');
  const dies = await until(backend, 'file:dies', 'failed');
  expect(dies.state.reason).toContain('3');
  expect(dies.state.stderrTail).toContain('no key');
  expect(serverOf(backend.reports.at(-1), 'file:mute')?.state.status).toBe('starting');
}, 60_000);

it('at the end of the daemon, told or killed, no server is left', async () => {
  const home = makeHome();
  const server = homeServer(join(home, 'log'));
  const place = await makePlace({
    mcpServersFile: JSON.stringify({ mcpServers: { home: server.config } }),
  });
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const before = place.backend.reports.length;
    const daemon = await place.run();
    await place.backend.until(
      () =>
        place.backend.reports.length > before &&
        serverOf(place.backend.reports.at(-1), 'file:home')?.state.status === 'ready',
      'a server that is ready',
    );
    const running = server.pids().map(seenOf).filter(isAlive);
    expect(running).toHaveLength(1);
    await daemon.kill(signal);
    expect([signal, await waitGone(running, 15_000)]).toEqual([signal, []]);
  }
}, 90_000);
