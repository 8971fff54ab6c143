import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newAuditRow, readAll } from '../make.ts';

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

  test('audit rows are kept as given and page newest first', async () => {
    const { audit } = world.store;
    const full = newAuditRow(world.runtime, {
      deviceId: 'dev_1',
      sessionId: 'sess_a',
      calledAs: 'session_list',
      code: 'forbidden',
      outcome: 'error',
      approvalId: 'a-1',
    });
    await audit.append(full);
    for (let i = 0; i < 9; i++) {
      world.runtime.advance(i % 2);
      await audit.append(newAuditRow(world.runtime, { surface: i % 3 === 0 ? 'mcp' : 'cli' }));
    }
    const store = await world.reopen();
    const read = await readAll(
      (page) => store.audit.list({}, page),
      4,
      () => store.audit.append(newAuditRow(world.runtime)),
    );
    expect(read.map((row) => row.auditId)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(read.at(-1)).toStrictEqual({ ...full, auditId: 1 });
  });

  test('audit filters', async () => {
    const { audit } = world.store;
    await audit.append(newAuditRow(world.runtime));
    world.runtime.advance(1000);
    const since = world.runtime.now().toISOString();
    const other = { surface: 'mcp', client: 'mcp:zed', actionId: 'session.stop', outcome: 'error' as const };
    await audit.append(newAuditRow(world.runtime, { ...other, sessionId: 'sess_a' }));
    const count = async (filter: Parameters<typeof audit.list>[0]) =>
      (await audit.list(filter, { limit: 10 })).items.length;
    for (const [key, value] of Object.entries({ ...other, sessionId: 'sess_a' })) {
      const counts = [await count({ [key]: value }), await count({ [key]: 'none' })];
      expect({ key, counts }).toEqual({ key, counts: [1, 0] });
    }
    expect([
      await count({ since }),
      await count({ until: since }),
      await count({ since, until: since }),
    ]).toEqual([1, 2, 1]);
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
}
