import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lives } from '../managed/runtime-world.ts';
import { REDIRECT, startOAuthWorld } from '../managed/oauth-fakes.ts';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { errorOf } from './helpers/world.ts';

/** Servers that run in the backend itself, by the real runtime. */
let world: ManagedWorld;

beforeEach(async () => {
  world = await openManagedWorld();
});
afterEach(() => world.end());

const FAKE = join(import.meta.dirname, '../managed/fakes/server.mjs');
const journalOf = (name: string) => join(world.home, `${name}.journal`);

const fake = (name: string, how: object = {}) => ({
  name,
  command: process.execPath,
  args: [FAKE, JSON.stringify({ ...how, journal: journalOf(name) })],
  where: 'backend',
});

function journal(name: string): Record<string, unknown>[] {
  if (!existsSync(journalOf(name))) return [];
  return readFileSync(journalOf(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const pidOf = (name: string) =>
  journal(name).findLast(({ start }) => start !== undefined)!['start'] as number;

it('a program is started, its tools are called, and it ends with the backend', async () => {
  const added = await world.add(fake('here', { tools: ['echo', 'error'] }));
  expect(added).toMatchObject({ status: 'ready', where: 'backend', toolCounts: { available: 2 } });
  const said = await world.ok(world.token, 'mcp.tool.call', {
    server: 'here',
    tool: 'echo',
    arguments: { text: '— 漢' },
  });
  expect(said).toMatchObject({ structuredContent: { said: '— 漢' } });
  const error = errorOf(await world.call(world.token, 'managed.here.error', {}));
  expect(error).toMatchObject({ code: 'tool_failed', message: 'it is broken' });
  const pid = pidOf('here');
  expect(lives(pid)).toBe(true);
  await world.backend.close();
  expect(lives(pid)).toBe(false);
});

it('one that fails says what is wrong, and the others are not kept waiting', async () => {
  const broken = await world.add({ name: 'broken', command: 'no-such-program-here', where: 'backend' });
  expect(broken.status).toBe('failed');
  expect(broken.reason).toContain('no-such-program-here');
  expect(await world.add(fake('here', { tools: ['echo'] }))).toMatchObject({ status: 'ready' });
  const error = errorOf(await world.call(world.token, 'managed.here.nothing', {}));
  expect(error.code).toBe('unknown_action');
});

it('after a restart its tools are there at once, and what changed meanwhile is held back', async () => {
  await world.add(fake('here', { tools: ['echo'] }));
  await world.restart();
  expect((await world.tools('here')).map(({ name, state }) => [name, state])).toEqual([
    ['echo', 'available'],
  ]);
  expect(await world.ok(world.token, 'managed.here.echo', { text: 'again' })).toMatchObject({
    structuredContent: { said: 'again' },
  });
  const other = fake('here', {
    tools: [{ name: 'echo', description: 'Other.', inputSchema: { type: 'object' } }],
  });
  const updated = await world.ok(world.token, 'mcp.server.update', { name: 'here', args: other.args });
  expect(updated).toMatchObject({ status: 'ready', toolCounts: { available: 0, held_back: 1 } });
});

it('a tool that comes in the middle is held back', async () => {
  await world.add(fake('here', { tools: ['grow'] }));
  const grown = world.untilTools('here', (tools) => tools.length === 2);
  await world.ok(world.token, 'managed.here.grow', { name: 'more' });
  expect((await grown).map(({ name, state }) => [name, state])).toEqual([
    ['grow', 'available'],
    ['more', 'held_back'],
  ]);
  expect(errorOf(await world.call(world.token, 'managed.here.more', {})).code).toBe('action_disabled');
});

it('disabling ends it, enabling starts it anew', async () => {
  await world.add(fake('here', { tools: ['echo'] }));
  const first = pidOf('here');
  await world.ok(world.token, 'mcp.server.disable', { name: 'here' });
  expect(errorOf(await world.call(world.token, 'managed.here.echo', {})).code).toBe('action_disabled');
  const enabled = await world.ok(world.token, 'mcp.server.enable', { name: 'here' });
  expect(enabled).toMatchObject({ status: 'ready', toolCounts: { available: 1 } });
  expect(pidOf('here')).not.toBe(first);
  expect(lives(first)).toBe(false);
});

it('sealed values reach the program', async () => {
  await world.add({ ...fake('here', { tools: ['env'] }), env: { API_KEY: 'sesame' } });
  const output = await world.ok(world.token, 'managed.here.env', { names: ['API_KEY'] });
  expect(JSON.stringify(output)).toContain('sesame');
});

it('a sign-in is begun and completed by a person, kept sealed, and outlasts a restart', async () => {
  const oauth = await startOAuthWorld();
  try {
    const added = await world.add({ name: 'cloud', command: undefined, url: oauth.mcp.url });
    expect(added.status).toBe('sign_in_needed');
    const begun = await world.ok(world.token, 'mcp.server.login.begin', {
      name: 'cloud',
      redirectUri: REDIRECT,
    });
    const answer = oauth.auth.consent(begun.authorizationUrl as string);
    expect(await world.ok(world.token, 'mcp.server.login.complete', answer)).toMatchObject({
      status: 'ready',
    });
    const [tokenOfServer] = [...oauth.auth.good];
    await world.restart();
    await world.untilTools('cloud', (tools) => tools.length > 0);
    const database = readFileSync(world.databasePath, 'latin1') + world.logs.join('\n');
    expect(database).not.toContain(tokenOfServer);
    const again = await world.call(world.token, 'mcp.server.login.complete', answer);
    expect(errorOf(again).code).toBe('not_found');
  } finally {
    await oauth.close();
  }
});

it('signing in is for servers with an address, here', async () => {
  await world.add();
  const begin = { name: 'files', redirectUri: REDIRECT };
  expect(errorOf(await world.call(world.token, 'mcp.server.login.begin', begin)).code).toBe('unsupported');
});

it('a session knows of the servers that are shared with it, and of no other', async () => {
  await world.add(fake('open', { tools: ['echo'] }));
  await world.add({ ...fake('closed', { tools: ['echo'] }), sessions: { agents: ['other'] } });
  await world.store.sessions.insert({
    sessionId: 'sess_own',
    agentId: 'demo',
    machineId: 'mach_one',
    directory: '/x',
    permissionMode: 'default',
  });
  const agent = await world.makeToken({
    kind: 'agent',
    scope: { surfaces: ['agent'], sessionId: 'sess_own' },
  });
  const here = { surface: 'agent' } as const;
  const { servers } = await world.ok(agent, 'mcp.server.list', {}, here);
  expect((servers as { name: string }[]).map(({ name }) => name)).toEqual(['open']);
  const { tools } = await world.ok(agent, 'mcp.tool.list', {}, here);
  expect(tools).toHaveLength(1);
  const hidden = await world.call(agent, 'mcp.server.get', { name: 'closed' }, here);
  expect(errorOf(hidden).code).toBe('mcp_server_not_found');
  expect(errorOf(await world.call(agent, 'managed.closed.echo', {}, here)).code).toBe('action_disabled');
  expect(await world.ok(agent, 'managed.open.echo', { text: 'x' }, here)).toBeDefined();
});
