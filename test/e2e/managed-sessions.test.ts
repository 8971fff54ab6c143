import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive, seenOf } from '../helpers/processes.ts';
import { homeServer } from './helpers/home-server.ts';
import { type ManagedWorld, openManaged } from './helpers/managed-world.ts';

/** Stands in for agents that tell what they were given: the message `received` is answered with it. */
const TELLING = join(import.meta.dirname, '../daemon/fakes/agent.mjs');
const SLOW_MS = 6000;

let managed: ManagedWorld;
const spawn = async (more: object = {}): Promise<string> => {
  const wanted = { agentId: 'demo', directory: managed.directory, ...more };
  return (await managed.api.output('session.spawn_new', wanted)).sessionId;
};
const execute = (sessionId: string, actionId: string, input: unknown = {}) =>
  managed.tool(sessionId, 'action_execute', { actionId, input });

/** The tools of a session, as its agent is told of them. */
async function connectAgent(sessionId: string, onChanged: () => void = () => undefined): Promise<Client> {
  const received = JSON.parse(await managed.say(sessionId, 'received')) as {
    params?: { mcpServers?: { url: string; headers: { name: string; value: string }[] }[] };
  }[];
  const [given] = received.findLast(({ params }) => params?.mcpServers !== undefined)!.params!.mcpServers!;
  const client = new Client(
    { name: 'agent', version: '1' },
    { versionNegotiation: { mode: 'legacy' }, listChanged: { tools: { onChanged } } },
  );
  const headers = Object.fromEntries(given!.headers.map(({ name, value }) => [name, value]));
  await client.connect(new StreamableHTTPClientTransport(new URL(given!.url), { requestInit: { headers } }));
  return client;
}
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

beforeAll(async () => {
  managed = await openManaged({
    settings: { exclude_tools: ['backup'] },
    others: (path) => ({
      broken: { command: '/nonexistent/server' },
      late: homeServer(path('late.log'), { START_MS: String(SLOW_MS) }).config,
      others: { ...homeServer(path('others.log')).config, sessions: { agents: ['telling'] } },
    }),
  });
  const added = await managed.world.cli([
    'agents',
    'add',
    'telling',
    '--env',
    `FAKE_CAPABILITIES=${JSON.stringify({ loadSession: true, mcpCapabilities: { http: true } })}`,
    '--',
    process.execPath,
    TELLING,
    'plain',
  ]);
  if (added.code !== 0) throw new Error(added.stderr);
}, 90_000);
afterAll(() => managed?.stop(), 60_000);

test('a server that is slow to start and one that is broken keep nobody waiting; the list follows', async () => {
  const sessionId = await spawn({ agentId: 'telling' });
  let changed: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const client = await connectAgent(sessionId, () => changed());
  const begun = performance.now();
  expect(await namesOf(client)).not.toContain('late__turn_on');
  expect(performance.now() - begun).toBeLessThan(2000);
  await heard;
  await expect.poll(() => namesOf(client), { timeout: 30_000 }).toContain('late__turn_on');
  const { servers } = await managed.api.output('mcp.server.list');
  expect(servers.find(({ name }: { name: string }) => name === 'broken')).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('/nonexistent/server'),
  });
  await client.close();
}, 60_000);

test('a tool of a server of this machine is called from inside a session, by name, by id and by server', async () => {
  await managed.untilTool('home', 'turn_on', 'available');
  const sessionId = await spawn();
  const input = { room: 'hall', level: '5', note: null, tags: '["a"]', task_progress: 'half' };
  const reached = { called: 'turn_on', args: { room: 'hall', level: 5, note: null, tags: ['a'] } };
  expect(await managed.tool(sessionId, 'home__turn_on', input)).toEqual(reached);
  for (const [actionId, given] of [
    ['managed.home.turn_on', input],
    ['home__turn_on', input],
  ] as const) {
    const { content } = await execute(sessionId, actionId, given);
    expect(JSON.parse(content[0].text)).toEqual(reached);
  }
  expect(await managed.tool(sessionId, 'home__get_state', null)).toEqual({ lamps: 2 });
  const { rows } = await managed.api.output('audit.list', { sessionId, actionId: 'managed.home.turn_on' });
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatchObject({ surface: 'agent', outcome: 'ok', client: 'agent:kaiwu-demo' });
});

test('one process serves every session', async () => {
  const sessions = await Promise.all([spawn(), spawn(), spawn()]);
  await Promise.all(
    sessions.map((sessionId) => managed.tool(sessionId, 'home__turn_on', { room: sessionId })),
  );
  expect(managed.home.pids().map(seenOf).filter(isAlive)).toHaveLength(1);
  expect(managed.home.pids()).toHaveLength(1);
});

test('what changes something for good asks a person first, and runs once', async () => {
  const sessionId = await spawn();
  const notice = await managed.tool(sessionId, 'home__wipe', {});
  expect(notice).toMatchObject({ kind: 'approval_request_created', actionId: 'managed.home.wipe' });
  expect(managed.home.calls()).not.toContain('wipe');
  const decision = { artifactId: notice.artifactId, decision: 'approve' };
  await managed.api.output('approval.request.decide', decision);
  await expect.poll(() => managed.home.calls().filter((name) => name === 'wipe')).toEqual(['wipe']);
});

test('a session is given the servers that it was started with, those of its agent, and a child no more', async () => {
  await managed.untilTool('others', 'turn_on', 'available');
  const telling = await spawn({ agentId: 'telling' });
  const client = await connectAgent(telling);
  expect(await namesOf(client)).toEqual(expect.arrayContaining(['others__turn_on', 'home__turn_on']));
  await client.close();
  const demo = await spawn();
  expect(await execute(demo, 'managed.others.turn_on', { room: 'x' })).toMatchObject({
    error: { code: 'action_disabled', details: { reason: 'not_shared' } },
  });

  const none = await spawn({ agentId: 'telling', mcpServers: [] });
  const bare = await connectAgent(none);
  expect((await namesOf(bare)).filter((name) => name.includes('__'))).toEqual([]);
  const refused = await bare.callTool({ name: 'home__turn_on', arguments: { room: 'x' } });
  expect(refused.structuredContent).toMatchObject({ error: { code: 'action_disabled' } });
  await bare.close();

  const some = await spawn({ mcpServers: ['home'] });
  expect(await managed.tool(some, 'home__turn_on', { room: 'x' })).toMatchObject({ called: 'turn_on' });
  expect(await execute(some, 'managed.late.turn_on', { room: 'x' })).toMatchObject({
    error: { code: 'action_disabled' },
  });
  const place = { agentId: 'demo', directory: managed.directory };
  const child = await execute(some, 'session.spawn_new', place);
  expect(await execute(child.sessionId, 'managed.late.turn_on', { room: 'x' })).toMatchObject({
    error: { code: 'action_disabled' },
  });
  const more = { ...place, parentSessionId: some, mcpServers: ['home', 'late'] };
  expect(await managed.api.call('session.spawn_new', more)).toMatchObject({
    error: { code: 'permission_escalation_denied', message: expect.stringContaining('late') },
  });
  expect(await managed.api.call('session.spawn_new', { ...place, mcpServers: ['hoem'] })).toMatchObject({
    error: { code: 'mcp_server_not_found', hint: expect.stringContaining('home') },
  });
  expect(await managed.api.output('session.status.get', { sessionId: some })).toMatchObject({
    mcpServers: ['home'],
  });
}, 60_000);

test('a tool that is new is held back until a person accepts it; open sessions hear of it then', async () => {
  const sessionId = await spawn({ agentId: 'telling' });
  let changed: () => void = () => undefined;
  const client = await connectAgent(sessionId, () => changed());
  const before = await namesOf(client);
  const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
  writeFileSync(managed.path('tools.json'), JSON.stringify([tool('get_state'), tool('fresh')]));
  const pid = managed.home.pids().at(-1)!;
  process.kill(pid, 'SIGUSR2');
  const { digest } = await managed.untilTool('home', 'fresh', 'held_back');
  const call = () => client.callTool({ name: 'home__fresh', arguments: {} });
  expect((await call()).structuredContent).toMatchObject({
    error: { code: 'action_disabled', details: { reason: 'held_back' } },
  });
  expect(managed.home.calls()).not.toContain('fresh');
  const heard = new Promise<void>((resolve) => {
    changed = resolve;
  });
  await managed.api.output('mcp.tool.accept', { server: 'home', tools: [{ name: 'fresh', digest }] });
  await heard;
  await expect.poll(() => namesOf(client), { timeout: 20_000 }).toContain('home__fresh');
  expect(before).not.toContain('home__fresh');
  expect((await call()).content).toMatchObject([{ type: 'text' }]);
  await client.close();
}, 60_000);
