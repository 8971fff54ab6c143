import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedTool } from '../../src/core/ports/managed.ts';
import { type ManagedWorld, openManagedWorld } from './helpers/managed-world.ts';
import { errorOf } from './helpers/world.ts';

let world: ManagedWorld;
beforeEach(async () => {
  world = await openManagedWorld();
});
afterEach(() => world.end());

const provider = (verb: string, input: object) => world.ok(world.token, `capability.provider.${verb}`, input);
const states = async () => new Set((await world.tools()).map(({ state }) => state));
const OFF = { code: 'action_disabled', details: { reason: 'provider_not_trusted' } };

/** Every way to a tool of a managed server, and what came of each. */
async function callEverywhere() {
  const input = { text: 'x' };
  const surfaces = ['cli', 'app', 'mcp'] as const;
  const ways: [string, object][] = [
    ['managed.files.read', input],
    ['files__read', input],
    ['mcp.tool.call', { server: 'files', tool: 'read', arguments: input }],
    ['action.execute', { actionId: 'managed.files.read', input }],
  ];
  const calls = surfaces.flatMap((surface) =>
    ways.map(([name, args]) => world.call(world.token, name, args, { surface })),
  );
  return Promise.all(calls);
}

async function expectOff(): Promise<void> {
  const before = world.servers.calls.length;
  for (const envelope of await callEverywhere()) expect(errorOf(envelope)).toMatchObject(OFF);
  expect(world.servers.calls.length).toBe(before);
}

async function expectOn(): Promise<void> {
  for (const { status } of await callEverywhere()) expect(status).toBe('ok');
}

describe('a server that names a capability provider', () => {
  it('is as any other while none is recorded, and off as soon as those that are do not count it', async () => {
    await world.add({ provider: 'Acme Tools' });
    await expectOn();
    await provider('add', { id: 'other', displayName: 'Other', trustState: 'trusted' });
    expect(await states()).toEqual(new Set(['provider_not_trusted']));
    await expectOff();
    const [tool] = await world.tools();
    expect(tool).toMatchObject({
      reason: expect.stringContaining('Acme Tools'),
    } satisfies Partial<ManagedTool>);
    expect((await world.server('files')).toolCounts).toMatchObject({ available: 0, provider_not_trusted: 2 });
    await provider('add', { id: 'acme-tools', displayName: 'Acme' });
    await expectOff();
    await provider('update', { id: 'acme-tools', trustState: 'trusted' });
    await expectOn();
    await provider('update', { id: 'acme-tools', enabled: false });
    await expectOff();
    await provider('update', { id: 'acme-tools', enabled: true });
    await expectOn();
    await provider('update', { id: 'acme-tools', trustState: 'revoked' });
    await expectOff();
    await world.restart();
    await world.untilTools('files', (tools) => tools.every(({ state }) => state === 'provider_not_trusted'));
    await provider('remove', { id: 'acme-tools' });
    await provider('remove', { id: 'other' });
    await world.untilTools('files', (tools) => tools.every(({ state }) => state === 'available'));
  });

  it('takes one, another, and none', async () => {
    await world.add({ provider: 'acme' });
    await provider('add', { id: 'acme', displayName: 'Acme' });
    await provider('add', { id: 'trusted', displayName: 'T', trustState: 'trusted' });
    await expectOff();
    const update = (change: object) =>
      world.ok(world.token, 'mcp.server.update', { name: 'files', ...change });
    await update({ provider: 'Trusted!' });
    await expectOn();
    await update({ provider: 'acme' });
    await expectOff();
    await update({ provider: null });
    await expectOn();
    expect((await world.server('files')).config).not.toHaveProperty('provider');
  });

  it('is told in the feed, so that lists follow', async () => {
    await world.add({ provider: 'acme' });
    await world.add({ name: 'plain' });
    const told: string[] = [];
    const heard = new Promise<void>((resolve) => {
      world.store.feed.subscribe((entry) => {
        told.push(entry.type === 'mcp_server.changed' ? entry.name : entry.type);
        if (entry.type === 'catalog.changed') resolve();
      });
    });
    await provider('add', { id: 'acme', displayName: 'Acme' });
    await heard;
    expect(told).toContain('files');
    expect(told).not.toContain('plain');
    expect(new Set((await world.tools('plain')).map(({ state }) => state))).toEqual(new Set(['available']));
  });

  it('is read anew where a request that waits is decided', async () => {
    await world.add({ provider: 'acme' });
    await world.ok(world.token, 'policy.set', {
      rules: { 'managed.files.read': { mcp: { approval: true } } },
    });
    const asked = await world.call(world.token, 'managed.files.read', { text: 'x' }, {
      surface: 'mcp',
    } as never);
    if (asked.status !== 'approval_required') throw new Error(`it was ${asked.status}`);
    await provider('add', { id: 'acme', displayName: 'Acme' });
    const before = world.servers.calls.length;
    const { artifactId } = asked.approval;
    const decided = await world.call(world.token, 'approval.request.decide', {
      artifactId,
      decision: 'approve',
    });
    expect(JSON.stringify(decided)).toContain('approval_stale');
    expect(world.servers.calls.length).toBe(before);
  });
});
