import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ToolDefinition } from '../../../../src/core/managed/managed.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newGrant } from '../make.ts';

export function managedSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  const definition: ToolDefinition = { name: 'read', description: '三\0', inputSchema: { type: 'object' } };
  const pin = { tool: 'read', digest: 'd1', definition };
  const add = (name: string, serverKey = `mcps_${name}`) =>
    world.store.managed.insert({
      serverKey,
      name,
      source: 'account',
      place: 'backend',
      config: { command: 'x', args: ['三\0'] },
      secretNames: ['env.KEY'],
      sealed: 'v1.sealed',
    });
  const grant = (grantId: string, actionId: string) =>
    world.store.grants.insert(newGrant(grantId, world.runtime, { actionId }));
  const isRevoked = async (grantId: string) =>
    (await world.store.grants.get(grantId))?.revokedAt !== undefined;

  test('a server is what was stored, after a restart too', async () => {
    const added = await add('files');
    await world.store.managed.update('mcps_files', { listing: [definition], signIn: 'v1.token' });
    const { managed } = await world.reopen();
    expect((await managed.all()).servers).toStrictEqual([
      { ...added, listing: [definition], signIn: 'v1.token' },
    ]);
    expect(await managed.update('mcps_files', { signIn: null })).not.toHaveProperty('signIn');
  });

  test('a name is taken in any letter case, and free again once its server is gone', async () => {
    await add('files');
    expect(await add('Files', 'mcps_2')).toBeUndefined();
    await world.store.managed.remove('mcps_files');
    expect(await add('Files', 'mcps_2')).toBeDefined();
  });

  test('of many that want one name at once one gets it', async () => {
    const added = await Promise.all(Array.from({ length: 10 }, (_, i) => add('files', `mcps_${i}`)));
    expect(added.filter((server) => server !== undefined)).toHaveLength(1);
  });

  test('a first listing is trusted once', async () => {
    await add('files');
    const first = await world.store.managed.trust('mcps_files', [pin]);
    expect(first?.pins).toMatchObject([pin]);
    expect(await world.store.managed.trust('mcps_files', [{ ...pin, digest: 'd2' }])).toBeUndefined();
    const { servers, pins } = await world.store.managed.all();
    expect(servers[0]?.trustedAt).toBe(first?.trustedAt);
    expect(pins).toStrictEqual([{ ...pin, serverKey: 'mcps_files', acceptedAt: first?.trustedAt }]);
  });

  test('what is accepted takes the place of what was, and ends what was granted for it', async () => {
    await add('files');
    await world.store.managed.trust('mcps_files', [pin, { ...pin, tool: 'write' }]);
    await grant('grant_read', 'managed.files.read');
    await grant('grant_write', 'managed.files.write');
    await world.store.managed.accept('mcps_files', [{ ...pin, digest: 'd2' }], ['managed.files.read']);
    const { pins } = await world.store.managed.all();
    expect(pins.map(({ tool, digest }) => [tool, digest])).toEqual([
      ['read', 'd2'],
      ['write', 'd1'],
    ]);
    expect([await isRevoked('grant_read'), await isRevoked('grant_write')]).toEqual([true, false]);
  });

  test.each([
    ['removing', (key: string) => world.store.managed.remove(key)],
    ['renaming', (key: string) => world.store.managed.update(key, { name: 'papers' })],
  ])('%s a server ends what was granted for its tools, and for no others', async (_, change) => {
    await add('files');
    await add('files_2');
    await grant('grant_own', 'managed.files.read');
    await grant('grant_other', 'managed.files_2.read');
    await grant('grant_native', 'session.archive');
    await change('mcps_files');
    const revoked = await Promise.all(['grant_own', 'grant_other', 'grant_native'].map(isRevoked));
    expect(revoked).toEqual([true, false, false]);
  });

  test('a server that is removed leaves no pin', async () => {
    await add('files');
    await world.store.managed.trust('mcps_files', [pin]);
    await world.store.managed.remove('mcps_files');
    expect(await world.store.managed.all()).toEqual({ servers: [], pins: [] });
  });

  test('damaged rows do not keep the others from being read', async () => {
    await add('files');
    await add('other');
    await world.store.managed.trust('mcps_files', [pin]);
    const { managed } = await world.tamper(
      `UPDATE managed_servers SET config = '{', listing = 'x' WHERE name = 'files'; UPDATE managed_pins SET definition = ''`,
    );
    const { servers, pins } = await managed.all();
    expect(servers.map(({ name, config }) => [name, config])).toEqual([
      ['files', undefined],
      ['other', { command: 'x', args: ['三\0'] }],
    ]);
    expect(pins).toMatchObject([{ tool: 'read', digest: 'd1' }]);
    expect(pins[0]).not.toHaveProperty('definition');
  });
}
