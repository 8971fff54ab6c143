import { beforeEach, describe, expect, it } from 'vitest';
import { toSummary } from '../../src/core/approval-card.ts';
import type { Caller, Envelope, TokenScope } from '../../src/core/call.ts';
import type { KaiwuError } from '../../src/core/errors.ts';
import type { Surface } from '../../src/core/spec.ts';
import { call, codeOf, identity, never, t, useEngine } from './helpers/engine-world.ts';

useEngine();

const newSession = (sessionId: string) =>
  t.store.sessions.insert({
    sessionId,
    agentId: 'demo',
    machineId: 'm',
    directory: '/x',
    permissionMode: 'default',
  });
const as = (
  scope: TokenScope,
  actionId: string,
  input: unknown = {},
  surface: Surface = 'mcp',
): Promise<Envelope> =>
  t.engine.execute({ actionId, input, context: { surface } }, { ...identity, scope }, never);
const codeOfThrown = (run: Promise<unknown>) =>
  run.then(
    () => 'ok',
    (error: unknown) => (error as KaiwuError).code,
  );

beforeEach(async () => {
  await newSession('sess_mine');
  await newSession('sess_other');
  await t.store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test');
  await call('note.peek');
});

describe('a token for one session', () => {
  const mine = { sessionId: 'sess_mine' };

  it('reaches nothing beyond it: not other sessions, not all of them, not the account', async () => {
    expect(await as(mine, 'note.touch')).toMatchObject({ output: mine });
    expect(codeOf(await as(mine, 'note.touch', { sessionId: 'sess_other' }))).toBe('forbidden');
    expect(codeOf(await as(mine, 'note.list'))).toBe('forbidden');
    expect(codeOf(await as(mine, 'note.add', { text: 'x' }))).toBe('forbidden');
    expect(codeOf(await as(mine, 'note.any', { actionId: 'note.add', input: { text: 'x' } }))).toBe(
      'forbidden',
    );
    expect(t.effects).toEqual([]);
  });
});

describe('what a limited token asked for', () => {
  const asked = (scope: TokenScope): Caller => ({
    surface: 'mcp',
    client: 'mcp',
    tokenId: 'tok_limited',
    tokenKind: 'api',
    scope,
  });

  it('runs with no more than the token could, and is decided by no token that reaches less', async () => {
    const adds = { actions: ['note.add'], surfaces: ['mcp' as const, 'cli' as const] };
    const { artifactId } = await t.approvals.create(
      { actionId: 'note.add', input: { text: 'x' } },
      asked(adds),
    );
    const decide = (scope: TokenScope, surface: Surface = 'cli') =>
      codeOfThrown(
        t.approvals.decide(artifactId, 'approve', undefined, {
          ...asked(scope),
          tokenId: 'tok_other',
          surface,
        }),
      );
    expect(await decide({ actions: ['note.list'] })).toBe('forbidden');
    expect(await decide({ sessionId: 'sess_mine' })).toBe('forbidden');
    expect(await decide({ surfaces: ['cli'] })).toBe('forbidden');
    expect(await decide({ ...adds, surfaces: ['cli', 'mcp'] })).toBe('ok');
    expect(t.effects).toEqual(['x']);
    const { requester } = await t.approvals.get(artifactId);
    expect(requester).toMatchObject({ tokenKind: 'api', scope: adds });
  });

  it('cannot be withdrawn from another surface of the same token', async () => {
    const { artifactId } = await t.approvals.create(
      { actionId: 'note.add', input: { text: 'x' } },
      asked({}),
    );
    expect(await codeOfThrown(t.approvals.cancel(artifactId, { ...asked({}), surface: 'agent' }))).toBe(
      'forbidden',
    );
    expect(await codeOfThrown(t.approvals.cancel(artifactId, asked({})))).toBe('ok');
  });

  it('counts against one limit, whatever session it claims', async () => {
    await t.store.policies.set({}, undefined, 'test', { maxPendingApprovals: 2 });
    const ask = (sessionId: string) =>
      t.engine.execute(
        { actionId: 'note.add', input: { text: sessionId }, context: { surface: 'mcp', sessionId } },
        identity,
        never,
      );
    const codes = [codeOf(await ask('a')), codeOf(await ask('b')), codeOf(await ask('c'))];
    expect(codes).toEqual(['approval_required', 'approval_required', 'rate_limited']);
  });
});

describe('a caller', () => {
  it('is labelled by its surface, whatever it calls itself', async () => {
    const context = { surface: 'mcp' as const, client: 'cli\u202e Claude!' };
    await t.engine.execute({ actionId: 'note.list', context }, identity, never);
    const [row] = (await t.store.audit.list({ actionId: 'note.list' }, { limit: 1 })).items;
    expect(row?.client).toBe('mcp:cli-claude');
  });

  it('that hangs up on a keyed call finds its outcome when it comes back', async () => {
    let open = () => {};
    t.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const control = new AbortController();
    const keyed = {
      actionId: 'note.add',
      input: { text: 'x' },
      context: { surface: 'cli' as const },
      idempotencyKey: 'k',
    };
    const first = t.engine.execute(keyed, identity, control.signal);
    control.abort();
    open();
    expect(await first).toMatchObject({ status: 'ok' });
    expect(await t.engine.execute(keyed, identity, never)).toMatchObject({
      status: 'ok',
      output: { text: 'x' },
    });
    expect(t.effects).toEqual(['x']);
  });
});

it('no field of a request can be pushed out of its summary', () => {
  const long = 'x'.repeat(5000);
  const summary = toSummary(
    'Start',
    {
      title: long,
      message: long,
      permissionMode: 'bypass',
      directory: long,
    },
    [],
  );
  for (const part of ['permissionMode: "bypass"', 'title: "x', 'message: "x', 'directory: "x'])
    expect(summary).toContain(part);
  expect(summary.length).toBeLessThan(500);
});
