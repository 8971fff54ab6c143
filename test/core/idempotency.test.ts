import { beforeEach, describe, expect, it } from 'vitest';
import type { Approval } from '../../src/core/approval.ts';
import type { Caller } from '../../src/core/call.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import { call, codeOf, makeEngine, t, useEngine } from './helpers/engine-world.ts';

useEngine();

/** A process that dies while the action runs. */
async function runAndCrash(makeCall: () => Promise<unknown>): Promise<void> {
  t.gate = new Promise(() => {});
  const inside = new Promise<void>((resolve) => {
    t.entered = resolve;
  });
  void makeCall();
  await inside;
  t.engine = makeEngine('owner-2');
  t.gate = Promise.resolve();
}

describe('idempotency keys', () => {
  it('run once, however often and however many at a time', async () => {
    const twenty = await Promise.all(
      Array.from({ length: 20 }, () => call('note.add', { text: 'once' }, { idempotencyKey: 'k' })),
    );
    const later = await call('note.add', { text: 'once' }, { idempotencyKey: 'k' });
    for (const envelope of [...twenty, later])
      expect(envelope).toEqual({ status: 'ok', output: { text: 'once' } });
    expect(t.effects).toEqual(['once']);
  });

  it('are for one input only', async () => {
    await call('note.add', { text: 'one' }, { idempotencyKey: 'k' });
    expect(codeOf(await call('note.add', { text: 'two' }, { idempotencyKey: 'k' }))).toBe('conflict');
    expect(t.effects).toEqual(['one']);
  });

  it('stay free after a failure that may pass, and keep one that may not', async () => {
    t.failNext = new KaiwuError('machine_offline', 'away');
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('machine_offline');
    t.failNext = new KaiwuError('agent_failed', 'broken');
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('agent_failed');
    t.failNext = undefined;
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('agent_failed');
    expect(t.effects).toEqual([]);
  });

  it('of a call that a crash cut off are not run again by themselves', async () => {
    await runAndCrash(() => call('note.add', { text: 'x' }, { idempotencyKey: 'cut' }));
    const envelope = await call('note.add', { text: 'x' }, { idempotencyKey: 'cut' });
    expect(envelope).toMatchObject({ error: { code: 'conflict', details: { outcome: 'unknown' } } });
  });

  describe('of a call that asks', () => {
    beforeEach(() => t.store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test'));

    const ask = () => call('note.add', { text: 'x' }, { idempotencyKey: 'asked', surface: 'mcp' });
    const cards = async () => (await t.store.approvals.list({}, { limit: 10 })).items;
    const person: Caller = {
      surface: 'cli',
      client: 'cli',
      tokenId: 'tok_2',
      tokenKind: 'device',
      scope: {},
    };

    /** Asks a process that dies before it has filed the request, or before it has recorded that under the key. */
    const askAndCrash = async (before: 'filing' | 'recording') => {
      const { approvals, idempotency } = t.store;
      await new Promise<void>((resolve) => {
        const die = () => {
          resolve();
          return new Promise<never>(() => {});
        };
        t.engine =
          before === 'filing'
            ? makeEngine('owner-1', { ...approvals, insertOrFold: die })
            : makeEngine('owner-1', approvals, { ...idempotency, complete: die });
        void ask();
      });
      t.engine = makeEngine('owner-2');
    };

    it.each(['filing', 'recording'] as const)('find one card after a crash before %s', async (before) => {
      await askAndCrash(before);
      const envelope = await ask();
      expect(await ask()).toEqual(envelope);
      expect(await cards()).toMatchObject([{ count: 1, status: 'pending' }]);
      expect(envelope).toMatchObject({ approval: { artifactId: (await cards())[0]!.artifactId } });
    });

    it('find the card although it is decided, and although the policy asks no more', async () => {
      await askAndCrash('recording');
      await call('note.peek');
      const [{ artifactId }] = (await cards()) as [Approval];
      await t.approvals.decide(artifactId, 'approve', undefined, person);
      await t.store.policies.set({ 'note.add': null }, undefined, 'test');
      expect(await ask()).toMatchObject({ approval: { artifactId, status: 'succeeded' } });
      expect(t.effects).toEqual(['x']);
    });

    it('run where nothing was filed and the policy asks no more, once', async () => {
      await askAndCrash('filing');
      await t.store.policies.set({ 'note.add': null }, undefined, 'test');
      await runAndCrash(ask);
      expect(await ask()).toMatchObject({ error: { code: 'conflict', details: { outcome: 'unknown' } } });
      expect(await cards()).toEqual([]);
    });

    it('run under a grant once', async () => {
      const first = await call('note.add', { text: 'x' }, { surface: 'mcp' });
      await call('note.peek');
      const { artifactId } = (first as { approval: { artifactId: string } }).approval;
      await t.approvals.decide(artifactId, 'approve', undefined, person);
      t.effects.length = 0;
      await t.grants.create({ artifactId, onThisMachineOnly: false, hours: 1, uses: 5 }, person);
      await runAndCrash(ask);
      expect(await ask()).toMatchObject({ error: { code: 'conflict', details: { outcome: 'unknown' } } });
    });
  });

  it.each(['', 'x'.repeat(201)])('of a wrong length are refused', async (idempotencyKey) => {
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey }))).toBe('invalid_input');
  });
});
