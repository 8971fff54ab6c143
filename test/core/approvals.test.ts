import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/core/call.ts';
import type { KaiwuError } from '../../src/core/errors.ts';
import type { Surface } from '../../src/core/spec.ts';
import { call, identity, never, t, useEngine } from './helpers/engine-world.ts';

useEngine();

describe('approvals', () => {
  const file = async (surface: Surface = 'mcp', text = 'asked') => {
    const envelope = await call('note.add', { text }, { surface });
    if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
    return envelope.approval;
  };
  const person = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} } as const;
  const decide = (artifactId: string, decision: 'approve' | 'deny', by: Partial<Caller> = {}) =>
    t.approvals.decide(artifactId, decision, undefined, { ...person, ...by });
  const codeOfThrown = (run: Promise<unknown>) =>
    run.then(
      () => 'ok',
      (error: unknown) => (error as KaiwuError).code,
    );

  beforeEach(async () => {
    await t.store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test');
    await call('note.peek');
  });

  it('are filed in place of running, once a key, and run what was reviewed', async () => {
    const keyed = () => call('note.add', { text: 'asked' }, { surface: 'mcp', idempotencyKey: 'k' });
    const [first, second] = [await keyed(), await keyed()];
    expect(second).toEqual(first);
    const { artifactId } = await t.approvals
      .list({ status: 'pending' }, { limit: 9 })
      .then(({ items }) => items[0]!);
    expect(first).toMatchObject({
      status: 'approval_required',
      approval: { kind: 'approval_request_created', artifactId, actionId: 'note.add', status: 'pending' },
    });
    expect(t.effects).toEqual([]);
    const decided = await decide(artifactId, 'approve');
    expect(decided).toMatchObject({
      approval: { status: 'succeeded' },
      result: { status: 'ok', output: { text: 'asked' } },
    });
    expect(t.effects).toEqual(['asked']);
  });

  it('decided by twenty at once run once', async () => {
    const { artifactId } = await file();
    const all = await Promise.all(Array.from({ length: 20 }, () => decide(artifactId, 'approve')));
    expect(all.filter(({ result }) => result !== undefined)).toHaveLength(1);
    expect(t.effects).toEqual(['asked']);
  });

  it('have one winner when approved and denied at once', async () => {
    const { artifactId } = await file();
    const codes = await Promise.all([
      codeOfThrown(decide(artifactId, 'approve')),
      codeOfThrown(decide(artifactId, 'deny')),
    ]);
    expect(codes.toSorted()).toEqual(['approval_already_decided', 'ok']);
    const { status } = await t.approvals.get(artifactId);
    expect(t.effects).toEqual(status === 'denied' ? [] : ['asked']);
  });

  it('repeat a decision without running again, refuse the opposite one, and can be withdrawn', async () => {
    const { artifactId } = await file();
    await decide(artifactId, 'deny');
    expect(await decide(artifactId, 'deny')).toMatchObject({ approval: { status: 'denied' } });
    expect(await codeOfThrown(decide(artifactId, 'approve'))).toBe('approval_already_decided');
    const other = await file();
    expect(await t.approvals.cancel(other.artifactId, person)).toMatchObject({ status: 'canceled' });
    expect(await codeOfThrown(decide(other.artifactId, 'approve'))).toBe('approval_already_decided');
    expect(t.effects).toEqual([]);
  });

  it('expire by the clock of the backend', async () => {
    const { artifactId } = await file();
    t.runtime.advance(24 * 3600 * 1000 + 1);
    expect(await codeOfThrown(decide(artifactId, 'approve'))).toBe('approval_expired');
    expect((await t.approvals.list({ status: 'pending' }, { limit: 9 })).items).toEqual([]);
    expect(t.effects).toEqual([]);
  });

  it('are never decided by an agent or a voice, nor by the host that asked until the account allows it', async () => {
    const { artifactId } = await file();
    for (const surface of ['agent', 'voice'] as const) {
      expect(await codeOfThrown(decide(artifactId, 'approve', { surface }))).toBe(
        'permission_escalation_denied',
      );
    }
    const asker = { surface: 'mcp', tokenId: identity.tokenId } as const;
    expect(await codeOfThrown(decide(artifactId, 'approve', asker))).toBe('self_approval_forbidden');
    expect(t.effects).toEqual([]);
    await t.store.policies.set({ 'approvals.selfDecision': { mcp: { enabled: true } } }, undefined, 'test');
    expect(await codeOfThrown(decide(artifactId, 'approve', asker))).toBe('ok');
    const another = await file('mcp', 'again');
    expect(await codeOfThrown(decide(another.artifactId, 'approve', { surface: 'mcp' }))).toBe('ok');
    expect(t.effects).toEqual(['asked', 'again']);
  });

  it('are judged by the policy of the day that they run', async () => {
    const { artifactId } = await file();
    await t.store.policies.set({ 'note.add': { mcp: { enabled: false } } }, undefined, 'test');
    const { approval, result } = await decide(artifactId, 'approve');
    expect(approval.status).toBe('failed');
    expect(result).toMatchObject({ error: { code: 'action_disabled' } });
    expect(t.effects).toEqual([]);
  });

  it('that a crash cut off end as unknown and are not run again; approved ones that had not begun are', async () => {
    const cut = await file('mcp', 'cut');
    const waiting = await file('mcp', 'waiting');
    for (const { artifactId } of [cut, waiting])
      await t.store.approvals.move(artifactId, 'pending', 'approved');
    await t.store.approvals.move(cut.artifactId, 'approved', 'executing', {}, 'owner-0');
    await t.engine.recover();
    await t.engine.resume();
    expect(await t.approvals.get(cut.artifactId)).toMatchObject({ status: 'unknown' });
    expect(await t.approvals.get(waiting.artifactId)).toMatchObject({ status: 'succeeded' });
    expect(t.effects).toEqual(['waiting']);
  });

  it('can be waited for, and a wait ends by time or by its caller', async () => {
    const { artifactId } = await file();
    const waiting = t.approvals.wait(artifactId, 30, never, person);
    await decide(artifactId, 'approve');
    expect(await waiting).toMatchObject({ status: 'succeeded', result: { status: 'ok' } });
    const other = await file();
    expect(await t.approvals.wait(other.artifactId, 0.05, never, person)).toMatchObject({
      status: 'pending',
    });
    expect(await codeOfThrown(t.approvals.wait(other.artifactId, 30, AbortSignal.abort(), person))).toBe(
      'canceled',
    );
  });
});
