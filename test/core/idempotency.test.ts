import { describe, expect, it } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import { call, codeOf, makeEngine, t, useEngine } from './helpers/engine-world.ts';

useEngine();

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
    t.gate = new Promise(() => {});
    const inside = new Promise<void>((resolve) => {
      t.entered = resolve;
    });
    void call('note.add', { text: 'x' }, { idempotencyKey: 'cut' });
    await inside;
    t.engine = makeEngine('owner-2');
    t.gate = Promise.resolve();
    const envelope = await call('note.add', { text: 'x' }, { idempotencyKey: 'cut' });
    expect(envelope).toMatchObject({ error: { code: 'conflict', details: { outcome: 'unknown' } } });
  });

  it.each(['', 'x'.repeat(201)])('of a wrong length are refused', async (idempotencyKey) => {
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey }))).toBe('invalid_input');
  });
});
