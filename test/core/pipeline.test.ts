import { describe, expect, it } from 'vitest';
import type { Identity } from '../../src/core/engine.ts';
import type { Surface } from '../../src/core/spec.ts';
import { call, codeOf, identity, never, t, useEngine } from './helpers/engine-world.ts';

useEngine();

const rows = async () => (await t.store.audit.list({}, { limit: 50 })).items;

async function newSession(sessionId: string): Promise<void> {
  await t.store.sessions.insert({
    sessionId,
    agentId: 'demo',
    machineId: 'mach_1',
    directory: '/x',
    permissionMode: 'default',
  });
}

describe('the pipeline', () => {
  it('runs, projects the output and writes one row', async () => {
    expect(await call('note.add', { text: 'hi', pin: '1234' })).toEqual({
      status: 'ok',
      output: { text: 'hi' },
    });
    const [row, ...more] = await rows();
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      actionId: 'note.add',
      surface: 'cli',
      tokenId: 'tok_1',
      deviceId: 'dev_1',
      outcome: 'ok',
      effect: 'write',
      input: { text: 'hi', pin: '[redacted]' },
    });
  });

  it('refuses without a token, and writes no row for a stranger', async () => {
    const envelope = await t.engine.execute(
      { actionId: 'note.list', context: { surface: 'cli' } },
      undefined,
      never,
    );
    expect(codeOf(envelope)).toBe('not_authenticated');
    expect(await rows()).toEqual([]);
  });

  it.each([undefined, null, 'phone', '__proto__', 7])('fails closed on surface %j', async (surface) => {
    const envelope = await call('note.add', { text: 'x' }, { context: { surface } as never });
    expect(codeOf(envelope)).toBe('forbidden');
    expect(t.effects).toEqual([]);
    expect((await rows())[0]).toMatchObject({ outcome: 'error', code: 'forbidden' });
  });

  it('names the nearest three for an unknown action', async () => {
    const envelope = await call('note.lst');
    expect(envelope).toMatchObject({ status: 'error', error: { code: 'unknown_action' } });
    expect(JSON.stringify(envelope)).toContain('note.list');
  });

  it('says why a surface has no such action, and what would help', async () => {
    const envelope = await call('note.add', { text: 'x' }, { surface: 'voice' });
    expect(envelope).toMatchObject({
      error: {
        code: 'action_disabled',
        details: { reason: 'unsupported_surface', remedy: expect.stringContaining('cli') },
      },
    });
  });

  it('judges each call by the policy of that moment, through every door', async () => {
    await t.store.policies.set({ 'note.*': { mcp: { enabled: false } } }, undefined, 'test');
    for (const [name, input] of [
      ['note.add', { text: 'x' }],
      ['note_add', { text: 'x' }],
      ['add_here', { text: 'x' }],
    ] as const) {
      expect(codeOf(await call(name, input, { surface: 'mcp' }))).toBe('action_disabled');
    }
    await t.store.policies.set(
      { 'note.*': null, 'note.add': { mcp: { enabled: false } } },
      undefined,
      'test',
    );
    const through = await call(
      'note.any',
      { actionId: 'note.add', input: { text: 'x' } },
      { surface: 'mcp' },
    );
    expect(through).toMatchObject({ error: { code: 'action_disabled', details: { actionId: 'note.add' } } });
    expect(codeOf(await call('note.add', { text: 'y' }))).toBe('ok');
    expect(t.effects).toEqual(['y']);
  });

  it('forwards through the same checks, records the real action, and reads only where it says so', async () => {
    expect(codeOf(await call('note.any', { actionId: 'note.add', input: { text: 'a' } }))).toBe('ok');
    expect((await rows())[0]).toMatchObject({ actionId: 'note.add', calledAs: 'note.any' });
    expect(codeOf(await call('note.read', { actionId: 'note.list' }))).toBe('ok');
    expect(codeOf(await call('note.read', { actionId: 'note.add', input: { text: 'b' } }))).toBe(
      'invalid_input',
    );
    expect(codeOf(await call('note.any', { actionId: 'note.any', input: { actionId: 'note.add' } }))).toBe(
      'invalid_input',
    );
    expect(t.effects).toEqual(['a']);
  });

  it('takes an alias for the default session without the field that it leaves out', async () => {
    expect(codeOf(await call('add_here', { text: 'x', place: 'y' }))).toBe('invalid_input');
    expect(codeOf(await call('add_here', { text: 'x', place: null }))).toBe('ok');
  });

  it('resolves sessions: given, by prefix, default, none, unknown, ambiguous', async () => {
    await newSession('sess_aaaaaaaaaaaa1');
    await newSession('sess_aaaaaaaaaaaa2');
    await newSession('sess_b');
    const touch = (sessionId?: string, context: object = {}) =>
      call('note.touch', { sessionId }, { context: { surface: 'cli', ...context } });
    expect(await touch('sess_b')).toMatchObject({ output: { sessionId: 'sess_b' } });
    expect(await touch('b')).toMatchObject({ output: { sessionId: 'sess_b' } });
    expect(await touch('sess_aaaaaaaaaaaa2')).toMatchObject({ output: { sessionId: 'sess_aaaaaaaaaaaa2' } });
    expect(await touch(undefined, { sessionId: 'sess_b' })).toMatchObject({
      output: { sessionId: 'sess_b' },
    });
    expect(codeOf(await touch())).toBe('session_not_selected');
    expect(codeOf(await touch('sess_zz'))).toBe('session_not_found');
    expect(codeOf(await touch('SESS_B'))).toBe('session_not_found');
    expect(codeOf(await touch('sess_%'))).toBe('session_not_found');
    expect(await touch('aaaaaaaa')).toMatchObject({
      error: {
        code: 'session_ambiguous',
        details: { candidates: [{ sessionId: 'sess_aaaaaaaaaaaa1' }, { sessionId: 'sess_aaaaaaaaaaaa2' }] },
      },
    });
    expect((await rows()).find(({ code }) => code === undefined)?.sessionId).toMatch(/^sess_/);
  });

  it('holds a token to its scope', async () => {
    await newSession('sess_mine');
    await newSession('sess_other');
    const scoped = (scope: Identity['scope'], actionId: string, input: unknown, surface: Surface = 'mcp') =>
      t.engine.execute({ actionId, input, context: { surface } }, { ...identity, scope }, never);
    expect(codeOf(await scoped({ surfaces: ['mcp'] }, 'note.list', {}, 'cli'))).toBe('forbidden');
    expect(codeOf(await scoped({ actions: ['note.list'] }, 'note.list', {}))).toBe('ok');
    expect(await scoped({ actions: ['note.list'] }, 'note.add', { text: 'x' })).toMatchObject({
      error: { code: 'action_disabled', details: { reason: 'outside_token_scope' } },
    });
    const mine = { sessionId: 'sess_mine' };
    expect(await scoped(mine, 'note.touch', {})).toMatchObject({ output: mine });
    expect(codeOf(await scoped(mine, 'note.touch', { sessionId: 'sess_other' }))).toBe('forbidden');
  });

  it('records input that is too large or too deep to keep, and lives on', async () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    expect(codeOf(await call('note.add', { text: deep }))).not.toBe('ok');
    expect((await rows())[0]).toMatchObject({ actionId: 'note.add', outcome: 'error' });
    const long = `start${'x'.repeat(1_000_000)}end`;
    expect(codeOf(await call('note.add', { text: long }))).toBe('ok');
    const kept = (await rows())[0]!.input['text'] as string;
    expect(kept.length).toBeLessThan(20_000);
    expect(kept).toMatch(/^start.*end$/);
    expect(t.effects).toEqual([long]);
  });

  it('keeps the text of an unexpected failure from the caller and tells the log', async () => {
    t.failNext = new Error('the path is /root/secret');
    const envelope = await call('note.add', { text: 'x' });
    expect(codeOf(envelope)).toBe('internal');
    expect(JSON.stringify(envelope)).not.toContain('secret');
    expect(t.errors).toEqual([t.failNext]);
  });
});
