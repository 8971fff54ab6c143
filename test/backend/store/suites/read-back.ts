import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Approval } from '../../../../src/core/approval.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newApproval } from '../make.ts';

export function readBackSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  const requester: Approval['requester'] = { surface: 'voice', client: 'voice', tokenId: 'tok_1' };
  const of = { tokenId: 'tok_1', surface: 'voice', actionId: 'session.stop' } as const;
  const heard = (codeDigest: string) => ({ words: 'Stop “漢”?', language: 'en' as const, codeDigest });
  const file = async (artifactId: string, more: Partial<Approval> = {}) => {
    const approval = newApproval(artifactId, world.runtime, {
      inputDigest: artifactId,
      requester,
      confirmation: heard('one'),
      triesLeft: 3,
      ...more,
    });
    const now = world.runtime.now().toISOString();
    return (await world.store.approvals.insertOrFold(approval, 20, now)).approval!;
  };

  test('what was read back is found by requester and action, newest first, for a while', async () => {
    const { approvals } = world.store;
    const since = world.runtime.now().toISOString();
    await file('a-old');
    world.runtime.advance(1000);
    const first = await file('a-1');
    world.runtime.advance(1000);
    const second = await file('a-2');
    await file('a-plain', { confirmation: undefined, triesLeft: undefined });
    await file('a-action', { actionId: 'session.archive' });
    await file('a-token', { requester: { ...requester, tokenId: 'tok_2' } });
    await file('a-surface', { requester: { ...requester, surface: 'cli' } });
    await approvals.move('a-1', 'pending', 'denied');
    expect(await approvals.listConfirmations(of, since)).toStrictEqual([
      second,
      { ...first, status: 'denied' },
    ]);
    expect(await approvals.get('a-2')).toStrictEqual(second);
  });

  test('said once more, it takes the new code with its tries and its time', async () => {
    const { approvals } = world.store;
    await file('a-1');
    await approvals.takeTry('a-1');
    const later = '2026-12-02T12:00:00.000Z';
    const again = await file('a-2', {
      inputDigest: 'a-1',
      confirmation: heard('two'),
      expiresAt: later,
    });
    expect(again).toMatchObject({ artifactId: 'a-1', count: 2, triesLeft: 3, expiresAt: later });
    expect(again.confirmation).toEqual(heard('two'));
    // What waits for a person is never taken for what waits for the caller's own yes.
    const plain = await file('a-3', { inputDigest: 'a-1', confirmation: undefined, triesLeft: undefined });
    expect(plain).toMatchObject({ artifactId: 'a-3', count: 1 });
    expect(plain.confirmation).toBeUndefined();
  });

  test('a crowd gets as many tries as there are, and none of what is decided', async () => {
    const { approvals } = world.store;
    await file('a-1');
    const tries = await Promise.all(Array.from({ length: 10 }, () => approvals.takeTry('a-1')));
    expect(tries.map((row) => row?.triesLeft).filter((left) => left !== undefined)).toEqual([2, 1, 0]);
    await file('a-2');
    await approvals.move('a-2', 'pending', 'denied');
    await file('a-plain', { confirmation: undefined, triesLeft: undefined });
    for (const artifactId of ['a-2', 'a-plain', 'nothing']) {
      expect(await approvals.takeTry(artifactId)).toBeUndefined();
    }
  });
}
