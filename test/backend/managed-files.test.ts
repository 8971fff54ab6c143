import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownServer, tool } from './helpers/fake-servers.ts';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { errorOf } from './helpers/world.ts';

/** Servers of a machine's own configuration file. */
let world: ManagedWorld;

beforeEach(async () => {
  world = await openManagedWorld();
  world.servers.own = [ownServer('notes', [tool('read'), tool('write')])];
  await world.servers.tell();
});
afterEach(() => world.end());

it('they are there with pins of their own, and called by the key that their machine knows', async () => {
  expect(await world.server('notes')).toMatchObject({
    source: 'file',
    where: 'mach_one',
    status: 'ready',
    secrets: ['env.KEY'],
    config: { command: 'own-server', where: 'mach_one' },
    toolCounts: { available: 2 },
  });
  await world.ok(world.token, 'managed.notes.read', {});
  expect(world.servers.calls).toMatchObject([{ key: 'file:notes', tool: 'read' }]);

  world.servers.own = [ownServer('notes', [tool('read'), tool('write'), tool('wipe')])];
  await world.servers.tell();
  expect((await world.tools('notes')).map(({ name, state }) => [name, state])).toEqual([
    ['read', 'available'],
    ['wipe', 'held_back'],
    ['write', 'available'],
  ]);
});

it('they are changed in their file alone', async () => {
  for (const [action, input] of [
    ['mcp.server.update', { name: 'notes', enabled: false }],
    ['mcp.server.disable', { name: 'notes' }],
    ['mcp.server.remove', { name: 'notes' }],
  ] as const) {
    expect(errorOf(await world.call(world.token, action, input)).code).toBe('conflict');
  }
});

it('a name that is taken gets a number behind it; one that a person wants is refused by its holder', async () => {
  await world.add({ name: 'files' });
  world.servers.own = [...world.servers.own, ownServer('files', [tool('read')])];
  await world.servers.tell();
  expect(await world.server('files-2')).toMatchObject({ source: 'file' });
  const error = errorOf(await world.call(world.token, 'mcp.server.add', { name: 'notes', command: 'x' }));
  expect(error).toMatchObject({ code: 'conflict', details: { source: 'file', where: 'mach_one' } });
});

it('one that vanishes and comes back is not trusted anew', async () => {
  world.servers.own = [];
  await world.servers.tell();
  expect(await world.server('notes')).toMatchObject({ status: 'disabled', source: 'file' });
  expect((await world.server('notes')).reason).toContain('no longer in the file');
  world.servers.own = [ownServer('notes', [tool('read', { description: 'Other.' })])];
  await world.servers.tell();
  expect((await world.tools('notes'))[0]).toMatchObject({ name: 'read', state: 'held_back' });
});

it('one that was never trusted leaves nothing behind', async () => {
  const { state } = ownServer('x', []);
  world.servers.own = [
    ...world.servers.own,
    {
      state: { ...state, key: 'file:problem', status: 'failed', reason: 'line 3, column 7' },
      config: { name: 'problem' },
    },
  ];
  await world.servers.tell();
  expect(await world.server('problem')).toMatchObject({ status: 'failed', reason: 'line 3, column 7' });
  world.servers.own = world.servers.own.slice(0, 1);
  await world.servers.tell();
  const { servers } = await world.ok(world.token, 'mcp.server.list');
  expect((servers as { name: string }[]).map(({ name }) => name)).toEqual(['notes']);
});

it('one that is no longer in the file can be removed', async () => {
  world.servers.own = [];
  await world.servers.tell();
  await world.ok(world.token, 'mcp.server.remove', { name: 'notes' });
  expect(errorOf(await world.call(world.token, 'mcp.server.get', { name: 'notes' })).code).toBe(
    'mcp_server_not_found',
  );
});

it('a machine that is gone is the reason, and the tools stay known', async () => {
  const gone = new Promise<void>((resolve) => {
    world.store.feed.subscribe(({ type }) => type === 'machine.changed' && resolve());
  });
  await world.machine.drop();
  await gone;
  const server = await world.server('notes');
  expect(server).toMatchObject({ status: 'failed', toolCounts: { available: 2 } });
  expect(server.reason).toMatch(/^machine_offline: machine Test machine was last seen/);
  expect(errorOf(await world.call(world.token, 'managed.notes.read', {})).code).toBe('machine_offline');
});

it('a machine speaks for no server of another', async () => {
  await world.add({ name: 'files' });
  const [files] = world.servers.applied;
  const other = await world.daemon(world.token, { machineId: 'mach_two', instanceId: 'two' });
  const state = { ...ownServer('x', [tool('evil')]).state, key: files!.key };
  await other.peer.request('mcp.states', { servers: [{ state }] }, 10_000);
  expect((await world.tools('files')).map(({ name }) => name)).toEqual(['read', 'write']);
});

it.each([
  { servers: [{ state: { key: 'x', status: 'fine' } }] },
  { servers: [{ state: { ...ownServer('x', []).state, tools: [{ name: '' }] } }] },
  { servers: 'none' },
  undefined,
])('states that are not valid are refused: %j', async (params) => {
  const refused = world.machine.peer.request('mcp.states', params as never, 10_000);
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
  expect((await world.server('notes')).status).toBe('ready');
});

it('an answer of a machine that is no result is none', async () => {
  world.servers.answer = () => ({ content: 'hello' }) as never;
  expect(errorOf(await world.call(world.token, 'managed.notes.read', {})).code).toBe(
    'mcp_server_unavailable',
  );
});
