import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Approval } from '../../../../src/core/approval.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newApproval } from '../make.ts';

export function foldingSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  const requester: Approval['requester'] = { surface: 'mcp', client: 'mcp:test', tokenId: 'tok_1' };
  let count = 0;
  /** Asks for something, by default always the same. */
  const ask = (more: Partial<Approval> = {}, maxPending = 3) => {
    const approval = newApproval(`a-${String(++count)}`, world.runtime, {
      inputDigest: 'same',
      requester,
      ...more,
    });
    return world.store.approvals.insertOrFold(approval, maxPending, world.runtime.now().toISOString());
  };
  const listed = async () => (await world.store.approvals.list({}, { limit: 100 })).items;

  test('an identical request counts up on the one that is pending, and is told', async () => {
    const heard: unknown[] = [];
    world.store.feed.subscribe((entry) => heard.push('status' in entry && [entry.artifactId, entry.status]));
    const first = await ask();
    expect(first).toMatchObject({ approval: { status: 'pending', count: 1 }, pending: 1 });
    const artifactId = first.approval?.artifactId;
    world.runtime.advance(1000);
    const second = await ask({ reason: 'again', requester: { ...requester, client: 'mcp:other name' } });
    expect(second).toStrictEqual({ approval: { ...first.approval, count: 2 }, pending: 1 });
    expect(await listed()).toStrictEqual([second.approval]);
    expect(heard).toEqual([
      [artifactId, 'pending'],
      [artifactId, 'pending'],
    ]);
  });

  test.each<[string, Partial<Approval>]>([
    ['action', { actionId: 'session.archive' }],
    ['input', { inputDigest: 'other' }],
    ['state that it is bound to', { boundTo: 'other' }],
    ['token', { requester: { ...requester, tokenId: 'tok_2' } }],
    ['surface', { requester: { ...requester, surface: 'agent' } }],
  ])('another %s makes another card', async (_, more) => {
    await ask();
    const other = await ask(more);
    expect(other.approval?.count).toBe(1);
    expect(await listed()).toHaveLength(2);
    expect((await ask(more)).approval?.artifactId).toBe(other.approval?.artifactId);
  });

  test('the same id is the same request, whatever became of it', async () => {
    const { approvals } = world.store;
    const first = newApproval('a-same', world.runtime, { requester });
    const again = () => approvals.insertOrFold(first, 1, world.runtime.now().toISOString());
    await again();
    expect(await again()).toMatchObject({ approval: { count: 1, status: 'pending' }, pending: 1 });
    await approvals.move('a-same', 'pending', 'denied');
    expect(await again()).toMatchObject({ approval: { count: 1, status: 'denied' }, pending: 0 });
    expect(await listed()).toHaveLength(1);
  });

  test('what is decided or over takes no more requests', async () => {
    const { approvals } = world.store;
    const first = (await ask({ expiresAt: '2026-11-30T12:00:01.000Z' })).approval?.artifactId ?? '';
    world.runtime.advance(1000);
    const second = (await ask()).approval?.artifactId ?? '';
    expect(second).not.toBe(first);
    await approvals.move(second, 'pending', 'denied');
    expect((await ask()).approval?.artifactId).not.toBe(second);
    expect((await listed()).map((approval) => approval.count)).toEqual([1, 1, 1]);
  });

  test('a requester has no more than so many pending; others have theirs', async () => {
    const heard: unknown[] = [];
    const file = (digest: string, tokenId = 'tok_1') =>
      ask({ inputDigest: digest, requester: { ...requester, tokenId } });
    for (const [i, digest] of ['one', 'two', 'three'].entries()) {
      expect((await file(digest)).pending).toBe(i + 1);
    }
    world.store.feed.subscribe((entry) => heard.push(entry));
    expect(await file('four')).toStrictEqual({ pending: 3 });
    expect(heard).toEqual([]);
    expect(await listed()).toHaveLength(3);
    // The same again is still welcome, and so is somebody else.
    expect(await file('two')).toMatchObject({ approval: { count: 2 }, pending: 3 });
    expect(await file('four', 'tok_2')).toMatchObject({ pending: 1 });
    // Room comes with a decision and with time.
    const [oldest] = (await listed()).slice(-1);
    await world.store.approvals.move(oldest?.artifactId ?? '', 'pending', 'denied');
    expect(await file('four')).toMatchObject({ approval: { count: 1 }, pending: 3 });
    world.runtime.advance(48 * 60 * 60 * 1000);
    expect(await ask({ expiresAt: '2027-01-01T00:00:00.000Z' })).toMatchObject({ pending: 1 });
  });
}
