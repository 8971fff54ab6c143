import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { file, newApproval, readAll } from '../make.ts';

export function approvalsSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('an approval is what was stored, after a restart too', async () => {
    const full = newApproval('a-1', world.runtime, {
      sessionId: 'sess_a',
      nearestGrant: { grantId: 'grant_1', reason: 'path is not /work or below it' },
      reason: 'because',
      requester: {
        surface: 'agent',
        client: 'agent',
        tokenId: 't',
        deviceId: 'd',
        machineId: 'm',
        sessionId: 's',
      },
    });
    const bare = newApproval('a-2', world.runtime);
    await file(world.store, full);
    await file(world.store, bare);
    const { approvals } = await world.reopen();
    expect(await approvals.get('a-1')).toStrictEqual(full);
    expect(await approvals.get('a-2')).toStrictEqual(bare);
    expect(await approvals.get('a-3')).toBeUndefined();
  });

  test('a move happens once, from the right state, with its changes', async () => {
    const { approvals } = world.store;
    await file(world.store, newApproval('a-1', world.runtime));
    const decided = {
      decidedAt: '2026-11-30T13:00:00.000Z',
      decidedBy: 'cli',
      decisionReason: 'fine',
      policyVersion: 7,
    };
    const moves = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        approvals.move('a-1', 'pending', i % 2 === 0 ? 'approved' : 'denied', {
          ...decided,
          decidedBy: `n${i}`,
        }),
      ),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
    const winner = moves.indexOf(true);
    expect(await approvals.get('a-1')).toMatchObject({
      ...decided,
      status: winner % 2 === 0 ? 'approved' : 'denied',
      decidedBy: `n${winner}`,
    });
    expect(await approvals.move('a-1', 'pending', 'canceled')).toBe(false);
    expect(await approvals.move('a-none', 'pending', 'canceled')).toBe(false);
  });

  test('only the holder of the lease ends an execution', async () => {
    const { approvals } = world.store;
    await file(world.store, newApproval('a-1', world.runtime, { status: 'approved' }));
    expect(await approvals.move('a-1', 'approved', 'executing', {}, 'one')).toBe(true);
    expect(await approvals.move('a-1', 'approved', 'executing', {}, 'two')).toBe(false);
    const result = { status: 'ok', output: { done: true } } as const;
    expect(await approvals.move('a-1', 'executing', 'failed', {}, 'two')).toBe(false);
    expect(await approvals.move('a-1', 'executing', 'succeeded', { result }, 'one')).toBe(true);
    const approval = await approvals.get('a-1');
    expect(approval).toMatchObject({ status: 'succeeded', result });
    expect(approval).not.toHaveProperty('lease');
  });

  test('what another process left executing is found after a restart', async () => {
    for (const id of ['a-1', 'a-2', 'a-3']) {
      await file(world.store, newApproval(id, world.runtime, { status: 'approved' }));
    }
    await world.store.approvals.move('a-1', 'approved', 'executing', {}, 'old');
    await world.store.approvals.move('a-2', 'approved', 'executing', {}, 'new');
    const { approvals } = await world.reopen();
    const left = await approvals.listExecutingExcept('new');
    expect(left.map((approval) => approval.artifactId)).toEqual(['a-1']);
    expect(await approvals.move('a-1', 'executing', 'unknown')).toBe(true);
    expect(await approvals.listExecutingExcept('new')).toEqual([]);
  });

  test('lists page newest first and by status while others are filed', async () => {
    const { approvals } = world.store;
    let count = 0;
    const fileNext = async () => {
      await file(world.store, newApproval(`a-${String(count++).padStart(3, '0')}`, world.runtime));
      world.runtime.advance(count % 2);
    };
    for (let i = 0; i < 10; i++) await fileNext();
    await approvals.move('a-004', 'pending', 'denied');
    const read = await readAll((page) => approvals.list({}, page), 3, fileNext);
    const expected = Array.from({ length: 10 }, (_, i) => `a-00${9 - i}`);
    expect(read.map((approval) => approval.artifactId)).toEqual(expected);
    const pending = await readAll((page) => approvals.list({ status: 'pending' }, page), 2);
    expect(pending).toHaveLength(count - 1);
    const denied = await approvals.list({ status: 'denied' }, { limit: 5 });
    expect(denied.items.map((approval) => approval.artifactId)).toEqual(['a-004']);
    const bad = approvals.list({}, { limit: 1, cursor: 'page1' });
    await expect(bad).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('filing and each move are told', async () => {
    const { approvals, feed } = world.store;
    const heard: unknown[] = [];
    feed.subscribe((entry) => heard.push('status' in entry && `${entry.artifactId} ${entry.status}`));
    await file(world.store, newApproval('a-1', world.runtime));
    await approvals.move('a-1', 'pending', 'approved');
    await approvals.move('a-1', 'pending', 'denied');
    expect(heard).toEqual(['a-1 pending', 'a-1 approved']);
  });
}
