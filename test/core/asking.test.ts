import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, CallWithdrawn } from '../../src/core/call.ts';
import type { KaiwuError } from '../../src/core/errors.ts';
import { call, codeOf, never, t, useEngine } from './helpers/engine-world.ts';

useEngine();

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };
const asker: Caller = { ...person, surface: 'mcp', tokenId: 'tok_1' };

const ask = (input: Record<string, unknown>, actionId = 'note.add') =>
  call(actionId, input, { surface: 'mcp' });
const filed = async (input: Record<string, unknown>, actionId?: string) => {
  const envelope = await ask(input, actionId);
  if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
  return envelope.approval;
};
const approve = (artifactId: string) => t.approvals.decide(artifactId, 'approve', undefined, person);
const codeOfThrown = (run: Promise<unknown>) =>
  run.then(
    () => 'ok',
    (error: unknown) => (error as KaiwuError).code,
  );

beforeEach(async () => {
  const asks = { mcp: { approval: true } };
  await t.store.policies.set({ 'note.add': asks, 'note.touch': asks }, undefined, 'test');
  await call('note.peek');
});

describe('asking again', () => {
  it('folds the same request into one card with a count, and files another for another', async () => {
    const first = await filed({ text: 'a' });
    const again = await filed({ text: 'a' });
    const other = await filed({ text: 'b' });
    expect(again).toMatchObject({ artifactId: first.artifactId, count: 2 });
    expect(other.artifactId).not.toBe(first.artifactId);
    expect((await t.approvals.list({ status: 'pending' }, { limit: 9 })).items).toHaveLength(2);
    await approve(first.artifactId);
    expect((await filed({ text: 'a' })).artifactId).not.toBe(first.artifactId);
    expect(t.effects).toEqual(['a']);
  });

  it('says how many requests are left, and refuses past that until one is settled', async () => {
    await t.store.policies.set({}, undefined, 'test', { maxPendingApprovals: 3 });
    const left = [];
    for (const text of ['a', 'b', 'c']) left.push((await filed({ text })).remaining);
    expect(left).toEqual([2, 1, 0]);
    expect(await ask({ text: 'd' })).toMatchObject({
      error: { code: 'rate_limited', details: { pending: 3, limit: 3 } },
    });
    expect(await ask({ text: 'c' })).toMatchObject({ approval: { count: 2 } });
    const [newest] = (await t.approvals.list({ status: 'pending' }, { limit: 1 })).items;
    await t.approvals.cancel(newest!.artifactId, person);
    expect(codeOf(await ask({ text: 'd' }))).toBe('approval_required');
  });

  it('waits as long as the policy says', async () => {
    await t.store.policies.set({}, undefined, 'test', { approvalHours: 1 });
    const { artifactId } = await filed({ text: 'a' });
    t.runtime.advance(3_600_001);
    expect(await codeOfThrown(approve(artifactId))).toBe('approval_expired');
  });
});

describe('a clock that is set', () => {
  it.each([-400, 400])('by %d days ends no request and keeps none alive', async (days) => {
    const { artifactId } = await filed({ text: 'a' });
    t.runtime.setClock(days * 86_400_000);
    expect((await t.approvals.get(artifactId)).status).toBe('pending');
    t.runtime.advance(25 * 3_600_000);
    expect((await t.approvals.get(artifactId)).status).toBe('expired');
  });
});

describe('what was reviewed', () => {
  const touch = () => filed({ sessionId: 'sess_one' }, 'note.touch');

  beforeEach(() =>
    t.store.sessions.insert({
      sessionId: 'sess_one',
      agentId: 'demo',
      machineId: 'mach_1',
      directory: '/x',
      permissionMode: 'read_only',
    }),
  );

  it('runs while the session is as it was', async () => {
    const { artifactId } = await touch();
    await t.store.sessions.setTitle('sess_one', 'a title changes nothing');
    expect(await approve(artifactId)).toMatchObject({ approval: { status: 'succeeded', policyVersion: 1 } });
  });

  it('is refused as stale once the session has other powers, and nothing is done', async () => {
    const { artifactId } = await touch();
    const at = t.runtime.now().toISOString();
    await t.store.transcripts.append('sess_one', [
      { seq: 1, at, type: 'mode_changed', permissionMode: 'bypass' },
    ]);
    expect(await codeOfThrown(approve(artifactId))).toBe('approval_stale');
    expect(await t.approvals.get(artifactId)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'approval_stale' } },
    });
    expect(await codeOfThrown(approve((await touch()).artifactId))).toBe('ok');
  });

  it('is refused as stale once the session is archived', async () => {
    const { artifactId } = await touch();
    await t.store.sessions.setArchived('sess_one', true);
    expect(await codeOfThrown(approve(artifactId))).toBe('approval_stale');
  });

  it('leaves a row of its own when it runs, with the approval', async () => {
    const { artifactId } = await filed({ text: 'a' });
    await approve(artifactId);
    const { items } = await t.store.audit.list({ actionId: 'note.add' }, { limit: 9 });
    expect(items.map(({ outcome, approvalId, surface }) => ({ outcome, approvalId, surface }))).toEqual([
      { outcome: 'ok', approvalId: artifactId, surface: 'mcp' },
      { outcome: 'approval_required', approvalId: artifactId, surface: 'mcp' },
    ]);
  });
});

describe('taking back', () => {
  const wait = (artifactId: string, reason: unknown, by: Caller) => {
    const control = new AbortController();
    const waiting = codeOfThrown(t.approvals.wait(artifactId, 30, control.signal, by));
    control.abort(reason);
    return waiting;
  };

  it('a call while it waits withdraws the request', async () => {
    const { artifactId } = await filed({ text: 'a' });
    expect(await wait(artifactId, new CallWithdrawn(), asker)).toBe('canceled');
    expect(await t.approvals.get(artifactId)).toMatchObject({
      status: 'canceled',
      decisionReason: 'canceled by the caller',
    });
    expect(await codeOfThrown(approve(artifactId))).toBe('approval_already_decided');
    expect(t.effects).toEqual([]);
  });

  it('hanging up, or somebody else going away, withdraws nothing', async () => {
    const { artifactId } = await filed({ text: 'a' });
    expect(await wait(artifactId, undefined, asker)).toBe('canceled');
    expect(await wait(artifactId, new CallWithdrawn(), person)).toBe('canceled');
    expect(await codeOfThrown(t.approvals.wait(artifactId, 0.01, never, asker))).toBe('ok');
    expect((await approve(artifactId)).approval.status).toBe('succeeded');
  });
});

describe('a draft of the policy', () => {
  const preview = (rules: Parameters<typeof t.previews.preview>[0]['rules']) =>
    t.previews.preview({ rules, days: 7 });

  it('is tried on the calls of the last days', async () => {
    await ask({ text: 'a' });
    await call('note.add', { text: 'b' });
    await call('note.list');
    await approve((await filed({ text: 'a' })).artifactId);
    const off = await preview({ 'note.add': { cli: { enabled: false } } });
    expect(off).toMatchObject({
      newlyRefused: { count: 1, examples: [{ actionId: 'note.add', surface: 'cli' }] },
      newlyAsking: { count: 0 },
    });
    expect(await preview({ 'note.list': { cli: { approval: true } } })).toMatchObject({
      newlyAsking: { count: 1 },
    });
    const open = await preview({ 'note.add': { mcp: { approval: false } } });
    expect(open).toMatchObject({ newlyUnattended: { count: 2 }, newlyRefused: { count: 0 } });
    t.runtime.advance(8 * 86_400_000);
    expect(await preview({ 'note.add': { cli: { enabled: false } } })).toMatchObject({
      calls: 0,
      newlyRefused: { count: 0 },
    });
  });

  it('replaces the policy only if it was made from the newest, and asks before it lets writes run unattended', async () => {
    await ask({ text: 'a' });
    const replace = (version: number, confirmUnattended: boolean) =>
      codeOfThrown(
        t.previews.replace({ document: { version, rules: {} }, confirmUnattended, days: 7 }, person),
      );
    expect(await replace(0, true)).toBe('conflict');
    expect(await replace(1, false)).toBe('confirmation_required');
    expect(await t.store.policies.get()).toMatchObject({ version: 1 });
    expect(await replace(1, true)).toBe('ok');
    expect(await t.store.policies.get()).toMatchObject({ version: 2, rules: {} });
  });
});
