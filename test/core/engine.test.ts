import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createSqliteStore } from '../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { BackendStore } from '../../src/backend/store/store.ts';
import type { ActionCall, Caller, Envelope } from '../../src/core/call.ts';
import { createEngine } from '../../src/core/create-engine.ts';
import type { ActionEngine, Identity } from '../../src/core/engine.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import type { ApprovalsPort } from '../../src/core/ports/governance.ts';
import type { ActionPorts } from '../../src/core/ports/index.ts';
import type { ActionData, AnyAction, Surface } from '../../src/core/spec.ts';
import { defineAction, forwarded } from '../../src/core/spec.ts';
import { openSqlite } from '../../src/local/sqlite.ts';
import type { TestRuntime } from '../backend/store/databases.ts';
import { createTestRuntime } from '../backend/store/databases.ts';

/** Actions of the test, over the real store: what each did stands in `effects`. */
const effects: string[] = [];
let failNext: Error | undefined;
let gate: Promise<void> = Promise.resolve();
let entered = () => {};

const base: Pick<
  ActionData,
  'title' | 'summary' | 'openWorld' | 'keywords' | 'examples' | 'errors' | 'approvals' | 'session'
> = {
  title: { en: 'Test', 'zh-CN': '测试' },
  summary: 'Use to test.',
  openWorld: false,
  keywords: { en: [], 'zh-CN': [] },
  examples: [],
  errors: [],
  approvals: 'default',
  session: 'none',
};

const everywhere: ActionData['surfaces'] = {
  app: { exposure: 'direct' },
  cli: { exposure: 'direct' },
  mcp: { exposure: 'direct' },
};

/** The approvals that the engine gives its actions. */
let approvals: ApprovalsPort;

const actions: AnyAction[] = [
  defineAction({
    ...base,
    id: 'note.add',
    effect: 'write',
    idempotent: false,
    surfaces: { ...everywhere, agent: { exposure: 'discoverable', approval: true } },
    secrets: ['pin'],
    aliases: [{ name: 'add_here', omit: ['place'] }],
    input: z.object({ text: z.string().min(1), place: z.string().optional(), pin: z.string().optional() }),
    output: z.object({ text: z.string() }),
    async run({ input, signal }) {
      entered();
      await gate;
      if (failNext !== undefined) throw failNext;
      if (signal.aborted) throw new KaiwuError('canceled', 'canceled');
      effects.push(input.text);
      return { text: input.text, undeclared: 'dropped' } as { text: string };
    },
  }),
  defineAction({
    ...base,
    id: 'note.touch',
    effect: 'write',
    idempotent: true,
    surfaces: everywhere,
    session: { need: 'required', field: 'sessionId' },
    input: z.object({ sessionId: z.string().optional() }),
    output: z.object({ sessionId: z.string() }),
    run: async ({ input }) => ({ sessionId: input.sessionId! }),
  }),
  defineAction({
    ...base,
    id: 'note.list',
    effect: 'read',
    idempotent: true,
    surfaces: everywhere,
    input: z.object({}),
    output: z.object({ notes: z.array(z.string()) }),
    run: async () => ({ notes: effects }),
  }),
  defineAction({
    ...base,
    id: 'note.peek',
    effect: 'read',
    idempotent: true,
    surfaces: everywhere,
    input: z.object({}),
    output: z.object({}),
    async run({ ports }) {
      approvals = ports.approvals;
      return {};
    },
  }),
  defineAction({
    ...base,
    id: 'note.any',
    effect: 'write',
    idempotent: false,
    approvals: 'never',
    surfaces: everywhere,
    forward: { actionField: 'actionId', inputField: 'input' },
    input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
  defineAction({
    ...base,
    id: 'note.read',
    effect: 'read',
    idempotent: true,
    approvals: 'never',
    surfaces: everywhere,
    forward: { actionField: 'actionId', inputField: 'input', readsOnly: true },
    input: z.object({ actionId: z.string(), input: z.looseObject({}).default({}) }),
    output: z.looseObject({}),
    run: forwarded,
  }),
] as unknown as AnyAction[];

const identity: Identity = { tokenId: 'tok_1', kind: 'device', deviceId: 'dev_1', scope: {} };
const never = new AbortController().signal;

let folder: string;
let store: BackendStore;
let engine: ActionEngine;
let errors: unknown[];
let runtime: TestRuntime;

const make = (ownerId: string): ActionEngine =>
  createEngine({
    actions,
    ports: { sessions: store.sessions, policies: store.policies, audit: store.audit } as unknown as Omit<
      ActionPorts,
      'discovery' | 'approvals'
    >,
    approvalStore: store.approvals,
    idempotency: store.idempotency,
    runtime,
    ownerId,
    onApprovalChange: (listener) =>
      store.feed.subscribe((entry) => entry.type === 'approval.changed' && listener(entry.artifactId)),
    onError: (error) => errors.push(error),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kaiwu-engine-'));
  runtime = createTestRuntime();
  store = await createSqliteStore(openSqlite(join(folder, 'kaiwu.db')), runtime);
  effects.length = 0;
  errors = [];
  failNext = undefined;
  gate = Promise.resolve();
  engine = make('owner-1');
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const call = (actionId: string, input?: unknown, more: Partial<ActionCall> & { surface?: Surface } = {}) =>
  engine.execute(
    { actionId, input, context: { surface: more.surface ?? 'cli' }, ...more } as ActionCall,
    identity,
    never,
  );

const codeOf = (envelope: Envelope) => (envelope.status === 'error' ? envelope.error.code : envelope.status);
const rows = async () => (await store.audit.list({}, { limit: 50 })).items;

async function newSession(sessionId: string): Promise<void> {
  await store.sessions.insert({
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
    const envelope = await engine.execute(
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
    expect(effects).toEqual([]);
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
    await store.policies.set({ 'note.*': { mcp: { enabled: false } } }, undefined, 'test');
    for (const [name, input] of [
      ['note.add', { text: 'x' }],
      ['note_add', { text: 'x' }],
      ['add_here', { text: 'x' }],
    ] as const) {
      expect(codeOf(await call(name, input, { surface: 'mcp' }))).toBe('action_disabled');
    }
    await store.policies.set({ 'note.*': null, 'note.add': { mcp: { enabled: false } } }, undefined, 'test');
    const through = await call(
      'note.any',
      { actionId: 'note.add', input: { text: 'x' } },
      { surface: 'mcp' },
    );
    expect(through).toMatchObject({ error: { code: 'action_disabled', details: { actionId: 'note.add' } } });
    expect(codeOf(await call('note.add', { text: 'y' }))).toBe('ok');
    expect(effects).toEqual(['y']);
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
    expect(effects).toEqual(['a']);
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
      engine.execute({ actionId, input, context: { surface } }, { ...identity, scope }, never);
    expect(codeOf(await scoped({ surfaces: ['mcp'] }, 'note.list', {}, 'cli'))).toBe('forbidden');
    expect(codeOf(await scoped({ actions: ['note.list'] }, 'note.list', {}))).toBe('ok');
    expect(await scoped({ actions: ['note.list'] }, 'note.add', { text: 'x' })).toMatchObject({
      error: { code: 'action_disabled', details: { reason: 'outside_token_scope' } },
    });
    const mine = { sessionId: 'sess_mine' };
    expect(await scoped(mine, 'note.touch', {})).toMatchObject({ output: mine });
    expect(codeOf(await scoped(mine, 'note.touch', { sessionId: 'sess_other' }))).toBe('forbidden');
  });

  it('keeps the text of an unexpected failure from the caller and tells the log', async () => {
    failNext = new Error('the path is /root/secret');
    const envelope = await call('note.add', { text: 'x' });
    expect(codeOf(envelope)).toBe('internal');
    expect(JSON.stringify(envelope)).not.toContain('secret');
    expect(errors).toEqual([failNext]);
  });
});

describe('idempotency keys', () => {
  it('run once, however often and however many at a time', async () => {
    const twenty = await Promise.all(
      Array.from({ length: 20 }, () => call('note.add', { text: 'once' }, { idempotencyKey: 'k' })),
    );
    const later = await call('note.add', { text: 'once' }, { idempotencyKey: 'k' });
    for (const envelope of [...twenty, later])
      expect(envelope).toEqual({ status: 'ok', output: { text: 'once' } });
    expect(effects).toEqual(['once']);
  });

  it('are for one input only', async () => {
    await call('note.add', { text: 'one' }, { idempotencyKey: 'k' });
    expect(codeOf(await call('note.add', { text: 'two' }, { idempotencyKey: 'k' }))).toBe('conflict');
    expect(effects).toEqual(['one']);
  });

  it('stay free after a failure that may pass, and keep one that may not', async () => {
    failNext = new KaiwuError('machine_offline', 'away');
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('machine_offline');
    failNext = new KaiwuError('agent_failed', 'broken');
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('agent_failed');
    failNext = undefined;
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey: 'k' }))).toBe('agent_failed');
    expect(effects).toEqual([]);
  });

  it('of a call that a crash cut off are not run again by themselves', async () => {
    gate = new Promise(() => {});
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    void call('note.add', { text: 'x' }, { idempotencyKey: 'cut' });
    await inside;
    engine = make('owner-2');
    gate = Promise.resolve();
    const envelope = await call('note.add', { text: 'x' }, { idempotencyKey: 'cut' });
    expect(envelope).toMatchObject({ error: { code: 'conflict', details: { outcome: 'unknown' } } });
  });

  it.each(['', 'x'.repeat(201)])('of a wrong length are refused', async (idempotencyKey) => {
    expect(codeOf(await call('note.add', { text: 'x' }, { idempotencyKey }))).toBe('invalid_input');
  });
});

describe('approvals', () => {
  const file = async (surface: Surface = 'mcp', text = 'asked') => {
    const envelope = await call('note.add', { text }, { surface });
    if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
    return envelope.approval;
  };
  const person = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} } as const;
  const decide = (artifactId: string, decision: 'approve' | 'deny', by: Partial<Caller> = {}) =>
    approvals.decide(artifactId, decision, undefined, { ...person, ...by });
  const codeOfThrown = (run: Promise<unknown>) =>
    run.then(
      () => 'ok',
      (error: unknown) => (error as KaiwuError).code,
    );

  beforeEach(async () => {
    await store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test');
    await call('note.peek');
  });

  it('are filed in place of running, once a key, and run what was reviewed', async () => {
    const keyed = () => call('note.add', { text: 'asked' }, { surface: 'mcp', idempotencyKey: 'k' });
    const [first, second] = [await keyed(), await keyed()];
    expect(second).toEqual(first);
    const { artifactId } = await approvals
      .list({ status: 'pending' }, { limit: 9 })
      .then(({ items }) => items[0]!);
    expect(first).toMatchObject({
      status: 'approval_required',
      approval: { kind: 'approval_request_created', artifactId, actionId: 'note.add', status: 'pending' },
    });
    expect(effects).toEqual([]);
    const decided = await decide(artifactId, 'approve');
    expect(decided).toMatchObject({
      approval: { status: 'succeeded' },
      result: { status: 'ok', output: { text: 'asked' } },
    });
    expect(effects).toEqual(['asked']);
  });

  it('decided by twenty at once run once', async () => {
    const { artifactId } = await file();
    const all = await Promise.all(Array.from({ length: 20 }, () => decide(artifactId, 'approve')));
    expect(all.filter(({ result }) => result !== undefined)).toHaveLength(1);
    expect(effects).toEqual(['asked']);
  });

  it('have one winner when approved and denied at once', async () => {
    const { artifactId } = await file();
    const codes = await Promise.all([
      codeOfThrown(decide(artifactId, 'approve')),
      codeOfThrown(decide(artifactId, 'deny')),
    ]);
    expect(codes.toSorted()).toEqual(['approval_already_decided', 'ok']);
    const { status } = await approvals.get(artifactId);
    expect(effects).toEqual(status === 'denied' ? [] : ['asked']);
  });

  it('repeat a decision without running again, refuse the opposite one, and can be withdrawn', async () => {
    const { artifactId } = await file();
    await decide(artifactId, 'deny');
    expect(await decide(artifactId, 'deny')).toMatchObject({ approval: { status: 'denied' } });
    expect(await codeOfThrown(decide(artifactId, 'approve'))).toBe('approval_already_decided');
    const other = await file();
    expect(await approvals.cancel(other.artifactId, person)).toMatchObject({ status: 'canceled' });
    expect(await codeOfThrown(decide(other.artifactId, 'approve'))).toBe('approval_already_decided');
    expect(effects).toEqual([]);
  });

  it('expire by the clock of the backend', async () => {
    const { artifactId } = await file();
    runtime.advance(24 * 3600 * 1000 + 1);
    expect(await codeOfThrown(decide(artifactId, 'approve'))).toBe('approval_expired');
    expect((await approvals.list({ status: 'pending' }, { limit: 9 })).items).toEqual([]);
    expect(effects).toEqual([]);
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
    expect(effects).toEqual([]);
    await store.policies.set({ 'approvals.selfDecision': { mcp: { enabled: true } } }, undefined, 'test');
    expect(await codeOfThrown(decide(artifactId, 'approve', asker))).toBe('ok');
    const another = await file('mcp', 'again');
    expect(await codeOfThrown(decide(another.artifactId, 'approve', { surface: 'mcp' }))).toBe('ok');
    expect(effects).toEqual(['asked', 'again']);
  });

  it('are judged by the policy of the day that they run', async () => {
    const { artifactId } = await file();
    await store.policies.set({ 'note.add': { mcp: { enabled: false } } }, undefined, 'test');
    const { approval, result } = await decide(artifactId, 'approve');
    expect(approval.status).toBe('failed');
    expect(result).toMatchObject({ error: { code: 'action_disabled' } });
    expect(effects).toEqual([]);
  });

  it('that a crash cut off end as unknown and are not run again; approved ones that had not begun are', async () => {
    const cut = await file('mcp', 'cut');
    const waiting = await file('mcp', 'waiting');
    for (const { artifactId } of [cut, waiting])
      await store.approvals.move(artifactId, 'pending', 'approved');
    await store.approvals.move(cut.artifactId, 'approved', 'executing', {}, 'owner-0');
    await engine.recover();
    expect(await approvals.get(cut.artifactId)).toMatchObject({ status: 'unknown' });
    expect(await approvals.get(waiting.artifactId)).toMatchObject({ status: 'succeeded' });
    expect(effects).toEqual(['waiting']);
  });

  it('can be waited for, and a wait ends by time or by its caller', async () => {
    const { artifactId } = await file();
    const waiting = approvals.wait(artifactId, 30, never);
    await decide(artifactId, 'approve');
    expect(await waiting).toMatchObject({ status: 'succeeded', result: { status: 'ok' } });
    const other = await file();
    expect(await approvals.wait(other.artifactId, 0.05, never)).toMatchObject({ status: 'pending' });
    expect(await codeOfThrown(approvals.wait(other.artifactId, 30, AbortSignal.abort()))).toBe('canceled');
  });
});
