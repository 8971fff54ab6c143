import { afterEach, beforeEach, expect, it } from 'vitest';
import { tool } from './helpers/fake-servers.ts';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { errorOf } from './helpers/world.ts';

let world: ManagedWorld;

beforeEach(async () => {
  world = await openManagedWorld();
});
afterEach(() => world.end());

it('a server that a person adds is run on the machine that adds it, and its tools are actions', async () => {
  const added = await world.add();
  expect(added).toMatchObject({
    name: 'files',
    source: 'account',
    where: 'mach_one',
    status: 'ready',
    config: { command: 'files-server' },
    toolCounts: { available: 2, held_back: 0 },
  });
  expect(world.servers.applied).toMatchObject([{ config: { name: 'files', command: 'files-server' } }]);
  const tools = await world.tools();
  expect(tools).toMatchObject([
    {
      server: 'files',
      name: 'read',
      toolName: 'files__read',
      actionId: 'managed.files.read',
      state: 'available',
      effect: 'write',
    },
    { name: 'write' },
  ]);

  const call = { server: 'files', tool: 'read', arguments: { text: 'x' } };
  const output = await world.ok(world.token, 'mcp.tool.call', call);
  expect(output).toEqual({ content: [{ type: 'text', text: 'read {"text":"x"}' }] });
  expect(await world.ok(world.token, 'managed.files.read', { text: 'x' })).toEqual(output);
  expect(world.servers.calls).toMatchObject([
    { tool: 'read', arguments: { text: 'x' }, client: 'cli', timeoutMs: 600_000 },
    { tool: 'read' },
  ]);
  const { rows } = await world.ok(world.token, 'audit.list', { actionId: 'managed.files.read' });
  expect(rows).toMatchObject([
    { actionId: 'managed.files.read', outcome: 'ok', effect: 'write' },
    { calledAs: 'mcp.tool.call' },
  ]);
});

it('its tools are in the catalog and its tag changes with them', async () => {
  const before = await world.get('/v1/catalog?surface=agent', { token: world.token });
  await before.text();
  await world.add();
  const after = await world.get('/v1/catalog?surface=agent', {
    token: world.token,
    headers: { 'if-none-match': before.headers.get('etag')! },
  });
  expect(after.status).toBe(200);
  const { actions } = (await after.json()) as { actions: { id: string; policy: unknown }[] };
  expect(actions.map(({ id }) => id).filter((id) => id.startsWith('managed.'))).toEqual([
    'managed.files.read',
    'managed.files.write',
  ]);
});

it('whoever has not signed in is told of no server', async () => {
  await world.add();
  const document = await (await world.get('/v1/openapi.json')).text();
  expect(document).toContain('mcp.tool.call');
  expect(document).not.toMatch(/managed\.files|files__/);
});

it('a program of a managed server that calls as a person is none', async () => {
  await world.restart({ agentSessionBehind: () => 'mcp:files' });
  const policy = { path: 'session.archive.mcp', value: 'ask' };
  const error = errorOf(await world.call(world.token, 'policy.set', policy));
  expect(error.code).toBe('permission_escalation_denied');
  expect(error.message).toContain('the MCP server files');
  expect(error.details).toEqual({ surface: 'cli' });
  const logout = await world.post('/v1/auth/logout', {}, { token: world.token });
  expect(logout.status).toBe(403);
});

it('tells the feed of the server and of the catalog', async () => {
  const told: string[] = [];
  world.store.feed.subscribe((entry) => told.push(entry.type));
  await world.add();
  await world.untilTools('files', () => told.includes('catalog.changed'));
  expect(told).toContain('mcp_server.changed');
});

it('a name that is taken is refused by its holder; a server without one gets one that is free', async () => {
  await world.add();
  expect(
    errorOf(await world.call(world.token, 'mcp.server.add', { name: 'Files', command: 'x' })),
  ).toMatchObject({
    code: 'conflict',
    details: { name: 'files' },
  });
  const unnamed = await world.ok(world.token, 'mcp.server.add', { command: 'x', where: 'mach_one' });
  const second = await world.ok(world.token, 'mcp.server.add', { command: 'x', where: 'mach_one' });
  expect([unnamed.name, second.name]).toEqual(['unnamed', 'unnamed-2']);
});

it.each([
  [{}, 'url'],
  [{ url: 'https://a.example', command: 'x' }, 'url'],
  [{ url: 'ftp://a.example' }, 'url'],
  [{ url: 'https://a.example', where: 'mach_one' }, 'where'],
  [{ command: 'x', cwd: 'sub' }, 'cwd'],
  [{ command: 'x', args: ['--token', '[redacted]'] }, 'args'],
])('refuses %j', async (config, path) => {
  const error = errorOf(await world.call(world.token, 'mcp.server.add', config));
  expect(error).toMatchObject({ code: 'invalid_input', details: { issues: [{ path }] } });
  expect(world.servers.applied).toEqual([]);
});

it('only persons configure servers', async () => {
  await world.add();
  const inputs: Record<string, object> = {
    'mcp.server.add': { command: 'evil' },
    'mcp.server.update': { name: 'files', command: 'evil' },
    'mcp.server.remove': { name: 'files' },
    'mcp.server.enable': { name: 'files' },
    'mcp.server.disable': { name: 'files' },
    'mcp.server.login.begin': { name: 'files', redirectUri: 'http://127.0.0.1/' },
    'mcp.tool.accept': { server: 'files', tools: [{ name: 'read', digest: 'x' }] },
  };
  for (const [action, input] of Object.entries(inputs)) {
    for (const surface of ['mcp', 'agent', 'voice'] as const) {
      const envelope = await world.call(world.token, action, input, { surface });
      expect([action, surface, errorOf(envelope).code]).toEqual([action, surface, 'action_disabled']);
    }
  }
  expect(await world.server('files')).toMatchObject({ config: { command: 'files-server' } });
});

it('an update keeps what is not named, null clears, and another name is another action', async () => {
  await world.add({ exclude_tools: ['write'], timeoutSeconds: 7 });
  await world.ok(world.token, 'mcp.server.update', { name: 'files', timeoutSeconds: null });
  expect((await world.server('files')).config).toEqual({
    command: 'files-server',
    exclude_tools: ['write'],
    where: 'mach_one',
  });
  await world.ok(world.token, 'mcp.server.update', { name: 'files', newName: 'papers' });
  expect((await world.tools('papers')).map(({ actionId, state }) => [actionId, state])).toEqual([
    ['managed.papers.read', 'available'],
    ['managed.papers.write', 'excluded'],
  ]);
  expect(errorOf(await world.call(world.token, 'mcp.server.get', { name: 'files' })).code).toBe(
    'mcp_server_not_found',
  );
});

it('changes that come at once are all made', async () => {
  await world.add();
  const changes = [{ timeoutSeconds: 7 }, { trusted: true }, { exclude_tools: ['x'] }, { env: { A: 'b' } }];
  await Promise.all(
    changes.map((change) => world.ok(world.token, 'mcp.server.update', { name: 'files', ...change })),
  );
  expect(await world.server('files')).toMatchObject({
    config: { timeoutSeconds: 7, trusted: true, exclude_tools: ['x'] },
    secrets: ['env.A'],
  });
});

it('twenty that are added at once are all there', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `server-${i}`);
  await Promise.all(names.map((name) => world.add({ name })));
  const { servers } = await world.ok(world.token, 'mcp.server.list');
  expect(servers).toHaveLength(20);
  expect(world.servers.applied).toHaveLength(20);
});

it('an address in place of a program runs in the backend', async () => {
  await world.add();
  const url = 'http://127.0.0.1:9/mcp';
  const moved = await world.ok(world.token, 'mcp.server.update', { name: 'files', url, command: null });
  expect(moved).toMatchObject({ where: 'backend', status: 'failed' });
  expect(moved.reason).not.toContain('/mcp');
  expect(world.servers.applied).toEqual([]);
});

it('arguments that no frame holds are refused before the machine sees them', async () => {
  await world.add();
  const text = 'x'.repeat(5 * 1024 * 1024);
  const error = errorOf(await world.call(world.token, 'managed.files.read', { text }));
  expect(error.code).toBe('payload_too_large');
  expect(world.servers.calls).toEqual([]);
});

it('a server that is disabled ends, keeps its settings, and comes back', async () => {
  await world.add();
  expect(await world.ok(world.token, 'mcp.server.disable', { name: 'files' })).toMatchObject({
    status: 'disabled',
    toolCounts: { server_disabled: 2 },
  });
  expect(world.servers.applied).toEqual([]);
  expect(await world.ok(world.token, 'mcp.server.enable', { name: 'files' })).toMatchObject({
    status: 'ready',
    toolCounts: { available: 2 },
  });
});

it('tools and pins outlast a restart, before the machine is back', async () => {
  await world.add();
  await world.restart();
  expect(await world.server('files')).toMatchObject({ status: 'failed', toolCounts: { available: 2 } });
  expect((await world.server('files')).reason).toContain('machine_offline');
  const call = { server: 'files', tool: 'read' };
  expect(errorOf(await world.call(world.token, 'mcp.tool.call', call)).code).toBe('machine_offline');
  const mine = await world.call(world.token, 'mcp.tool.call', call, { machineId: 'mach_one' });
  expect(errorOf(mine).code).toBe('daemon_not_running');
});

it('a result that is an error is one', async () => {
  await world.add();
  world.servers.answer = () => ({ isError: true, content: [{ type: 'text', text: 'no such file' }] });
  const error = errorOf(await world.call(world.token, 'managed.files.read', {}));
  expect(error).toMatchObject({ code: 'tool_failed', message: 'no such file' });
});

it('a caller that takes its call back takes it back at the machine', async () => {
  await world.add();
  world.servers.answer = () => new Promise(() => {});
  const controller = new AbortController();
  const called = world.servers.next('call');
  const call = world.call(world.token, 'managed.files.read', {}, {}, { signal: controller.signal });
  call.catch(() => {});
  await called;
  const canceled = world.servers.next('cancel');
  controller.abort();
  await canceled;
  expect(world.servers.canceled).toEqual([world.servers.calls[0]!.callId]);
});

it('search finds a tool by what it does', async () => {
  world.servers.tools = { files: [tool('stat'), tool('fetch', { description: 'Downloads a page.' })] };
  await world.add();
  const { tools } = await world.ok(world.token, 'mcp.tool.search', { query: 'download pages' });
  expect(tools).toMatchObject([{ name: 'fetch' }]);
});

it('a test connects anew and takes the listing in', async () => {
  await world.add();
  world.servers.more = { files: { status: 'degraded', reason: 'calls fail' } };
  expect(await world.ok(world.token, 'mcp.server.test', { name: 'files' })).toMatchObject({
    status: 'degraded',
    reason: 'calls fail',
  });
});

it('what a test lists anew is held back at once, before the machine reports it', async () => {
  await world.add();
  world.servers.tools.files = [tool('read'), tool('late')];
  expect(await world.ok(world.token, 'mcp.server.test', { name: 'files' })).toMatchObject({
    toolCounts: { available: 1, held_back: 1, gone: 1 },
  });
});
