import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Grant } from '../../../../src/core/grant.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newGrant, readAll } from '../make.ts';

export function grantsSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  const now = () => world.runtime.now().toISOString();
  const add = (grantId: string, more: Partial<Grant> = {}) =>
    world.store.grants.insert(newGrant(grantId, world.runtime, more));
  /** One that can be used, one spent, one revoked, one that is over. */
  const addOfEachKind = async () => {
    await add('grant_good');
    world.runtime.advance(1000);
    await add('grant_spent', { usesLeft: 0 });
    await add('grant_revoked');
    await world.store.grants.revoke('grant_revoked', now());
    world.runtime.advance(1000);
    await add('grant_over', { expiresAt: now() });
  };
  const ids = (grants: Grant[]) => grants.map((grant) => grant.grantId);

  test('a grant is what was stored, after a restart too', async () => {
    const full = newGrant('grant_1', world.runtime, {
      machineId: 'mach_one',
      pins: { deep: { is: 'exact', value: { list: [1, null, '三\0'] } } },
    });
    const bare = newGrant('grant_2', world.runtime, { pins: {} });
    await world.store.grants.insert(full);
    await world.store.grants.insert(bare);
    const { grants } = await world.reopen();
    expect(await grants.get('grant_1')).toStrictEqual(full);
    expect(await grants.get('grant_2')).toStrictEqual(bare);
    expect(await grants.get('grant_3')).toBeUndefined();
  });

  test('uses are taken one by one until none is left', async () => {
    const { grants } = world.store;
    await add('grant_1');
    const taken = await Promise.all(Array.from({ length: 10 }, () => grants.use('grant_1', now())));
    expect(taken.filter(Boolean)).toHaveLength(3);
    expect(await grants.get('grant_1')).toMatchObject({ uses: 3, usesLeft: 0 });
    expect(await grants.use('grant_none', now())).toBe(false);
  });

  test('what is revoked or over cannot be used', async () => {
    const { grants } = world.store;
    await addOfEachKind();
    for (const id of ['spent', 'revoked', 'over']) expect(await grants.use(`grant_${id}`, now())).toBe(false);
    expect(await grants.use('grant_good', now())).toBe(true);
    expect(await grants.get('grant_over')).toMatchObject({ usesLeft: 3 });
  });

  test('revoking twice keeps the first time', async () => {
    const { grants } = world.store;
    await add('grant_1');
    const revokedAt = now();
    const revoked = await grants.revoke('grant_1', revokedAt);
    expect(revoked).toStrictEqual({ ...newGrant('grant_1', world.runtime), revokedAt });
    world.runtime.advance(1000);
    expect(await grants.revoke('grant_1', now())).toStrictEqual(revoked);
    expect(await grants.revoke('grant_none', now())).toBeUndefined();
  });

  test('candidates are of the action, surface and token, newest first', async () => {
    await addOfEachKind();
    for (const [i, other] of [
      { actionId: 'session.archive' },
      { surface: 'agent' as const },
      { tokenId: 'tok_2' },
    ].entries()) {
      await add(`grant_other_${i}`, other);
    }
    const of = { actionId: 'session.stop', surface: 'mcp', tokenId: 'tok_1' };
    expect(ids(await world.store.grants.candidates(of, now()))).toEqual(['grant_spent', 'grant_good']);
    for (let i = 0; i < 110; i++) await add(`grant_${String(i)}`);
    expect(await world.store.grants.candidates(of, now())).toHaveLength(100);
  });

  test('lists page newest first, by action and by use', async () => {
    const { grants } = world.store;
    await addOfEachKind();
    await add('grant_archive', { actionId: 'session.archive' });
    const list = (filter: { actionId?: string; active?: boolean }) =>
      readAll((page) => grants.list(filter, page), 2);
    expect(ids(await list({}))).toEqual([
      'grant_over',
      'grant_archive',
      'grant_spent',
      'grant_revoked',
      'grant_good',
    ]);
    expect(ids(await list({ active: true }))).toEqual(['grant_archive', 'grant_good']);
    expect(ids(await list({ active: true, actionId: 'session.stop' }))).toEqual(['grant_good']);
    expect(ids(await list({ active: false }))).toEqual(['grant_over', 'grant_spent', 'grant_revoked']);
  });
}
