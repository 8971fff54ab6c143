import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';

export function governanceSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('the policy starts empty, merges, and keeps what it does not know', async () => {
    const { policies } = world.store;
    expect(await policies.get()).toEqual({ version: 0, rules: {} });
    const unknown = { nowhere: { enabled: true, colour: 'red' } };
    const patch = { 'session.stop': { mcp: { approval: true } }, 'future.*': unknown } as never;
    expect(await policies.set(patch, undefined, 'cli')).toMatchObject({ version: 1 });
    await policies.set({ 'session.stop': { mcp: { enabled: false } } }, 1, 'cli');
    const expected = {
      version: 3,
      rules: { 'session.stop': { mcp: { approval: true, enabled: false } }, 'future.*': unknown },
    };
    await policies.set({ 'file.*': { cli: { enabled: false } } }, 2, 'cli');
    expect(await policies.set({ 'file.*': null }, undefined, 'cli')).toEqual({ ...expected, version: 4 });
    const store = await world.reopen();
    expect(await store.policies.get()).toEqual({ ...expected, version: 4 });
  });

  test('of many changes made for one version, one is taken', async () => {
    const { policies, feed } = world.store;
    const heard: unknown[] = [];
    feed.subscribe((entry) => heard.push(entry.type === 'policy.changed' && entry.version));
    const sets = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        policies.set({ [`a.b${i}`]: { cli: { enabled: false } } }, 0, 'cli'),
      ),
    );
    expect(sets.filter((set) => set.status === 'fulfilled')).toHaveLength(1);
    expect(sets.find((set) => set.status === 'rejected')?.reason).toMatchObject({
      code: 'conflict',
      details: { version: 1, received: 0 },
    });
    expect(Object.keys((await policies.get()).rules)).toHaveLength(1);
    expect(heard).toEqual([1]);
  });

  test('settings merge, and a null removes one', async () => {
    const { policies } = world.store;
    const unknown = { colour: 'red' };
    const first = await policies.set({}, 0, 'cli', { maxPendingApprovals: 5, ...unknown });
    expect(first).toStrictEqual({ version: 1, rules: {}, settings: { maxPendingApprovals: 5, ...unknown } });
    const more = { maxPendingApprovals: undefined, approvalHours: 2 };
    await policies.set({ 'file.*': { cli: { enabled: false } } }, 1, 'cli', more);
    const store = await world.reopen();
    expect(await store.policies.get()).toStrictEqual({
      version: 2,
      rules: { 'file.*': { cli: { enabled: false } } },
      settings: { maxPendingApprovals: 5, approvalHours: 2, ...unknown },
    });
    // A change of rules alone leaves the settings.
    expect((await store.policies.set({ 'file.*': null }, 2, 'cli')).settings).toMatchObject(unknown);
    const none = { maxPendingApprovals: null, approvalHours: null, colour: null };
    expect(await store.policies.set({}, 3, 'cli', none)).toStrictEqual({ version: 4, rules: {} });
  });

  test('a whole document replaces the one that was seen, and only that', async () => {
    const { policies, feed } = world.store;
    const heard: unknown[] = [];
    feed.subscribe((entry) => heard.push(entry.type === 'policy.changed' && entry.version));
    await policies.set({ 'session.stop': { mcp: { approval: true } } }, 0, 'cli', { approvalHours: 2 });
    const rules = { 'future.*': { nowhere: { enabled: true, colour: 'red' } } } as never;
    const settings = { maxPendingApprovals: 7, colour: 'red' } as never;
    const replaced = { version: 2, rules, settings };
    expect(await policies.replace({ rules, settings }, 1, 'cli')).toStrictEqual(replaced);
    await expect(policies.replace({ rules: {} }, 1, 'cli')).rejects.toMatchObject({
      code: 'conflict',
      details: { version: 2, received: 1 },
    });
    expect(await policies.get()).toStrictEqual(replaced);
    expect(await policies.replace({ rules: {} }, 2, 'cli')).toStrictEqual({ version: 3, rules: {} });
    expect(heard).toEqual([1, 2, 3]);
  });

  test('an idempotency key is claimed once and remembers its outcome', async () => {
    const { idempotency } = world.store;
    const key = { tokenId: 'tok_1', key: 'k' };
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, i) => idempotency.claim(key, `digest ${i}`, `owner ${i}`)),
    );
    const winner = claims.findIndex((claim) => claim.state === 'claimed');
    const open = { state: 'open', digest: `digest ${winner}`, owner: `owner ${winner}` };
    expect(claims.filter((_, i) => i !== winner)).toEqual(Array.from({ length: 9 }, () => open));
    expect(await idempotency.claim({ ...key, tokenId: 'tok_2' }, 'd', 'o')).toEqual({ state: 'claimed' });

    await idempotency.release(key);
    expect(await idempotency.claim(key, 'd', 'o')).toEqual({ state: 'claimed' });
    const envelope = { status: 'ok' as const, output: { title: '标题\0' } };
    await idempotency.complete(key, envelope);
    await idempotency.release(key);
    const store = await world.reopen();
    const again = await store.idempotency.claim(key, 'other', 'other');
    expect(again).toStrictEqual({ state: 'done', digest: 'd', envelope });
  });

  test('an idempotency key is forgotten after a week', async () => {
    const day = 24 * 60 * 60 * 1000;
    const claim = async (name: string) => {
      const claimed = await world.store.idempotency.claim({ tokenId: 'tok_1', key: name }, 'd', 'o');
      return claimed.state;
    };
    expect(await claim('k')).toBe('claimed');
    await world.store.idempotency.complete({ tokenId: 'tok_1', key: 'k' }, { status: 'ok', output: {} });
    world.runtime.advance(7 * day);
    expect(await claim('other')).toBe('claimed');
    expect(await claim('k')).toBe('done');
    world.runtime.advance(day);
    expect(await claim('k')).toBe('claimed');
    expect(await claim('other')).toBe('open');
  });
}
