import { beforeEach, describe, expect, it } from 'vitest';
import { toSummary } from '../../src/core/approval-card.ts';
import type { Caller, Envelope, TokenScope } from '../../src/core/call.ts';
import type { KaiwuError } from '../../src/core/errors.ts';
import type { Surface } from '../../src/core/spec.ts';
import { call, codeOf, identity, never, t, useEngine } from './helpers/engine-world.ts';

useEngine();

const newSession = (sessionId: string, parentSessionId?: string) =>
  t.store.sessions.insert({
    sessionId,
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
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

describe('a token for one session, in a tree', () => {
  const mine = { sessionId: 'sess_mine' };
  const touch = (sessionId: string, scope: TokenScope = mine) => as(scope, 'note.touch', { sessionId });
  const tree = async (scope: TokenScope, below?: string) => {
    const envelope = await as(scope, 'note.tree', below === undefined ? {} : { below });
    const output: { sessions?: { sessionId: string }[] } = 'output' in envelope ? envelope.output : {};
    return (output.sessions ?? []).map(({ sessionId }) => sessionId).sort();
  };

  beforeEach(async () => {
    await newSession('sess_mychild', 'sess_mine');
    await newSession('sess_mygrand', 'sess_mychild');
    await newSession('sess_otherchild', 'sess_other');
    await newSession('sess_sibling', 'sess_mine');
  });

  it('reaches what that session started, at any depth, and nothing else', async () => {
    for (const id of ['sess_mine', 'sess_mychild', 'sess_mygrand', 'mygrand', 'sess_mychi']) {
      expect([id, codeOf(await touch(id))]).toEqual([id, 'ok']);
    }
    for (const id of ['sess_other', 'sess_otherchild', 'other', 'sess_', 'nothing', 'zz']) {
      expect([id, codeOf(await touch(id))]).toEqual([id, 'forbidden']);
    }
  });

  it('reaches no parent and no sibling from below', async () => {
    const child = { sessionId: 'sess_mychild' };
    expect(codeOf(await touch('sess_mygrand', child))).toBe('ok');
    for (const id of ['sess_mine', 'sess_sibling', 'mine', 'sib', 'sess_other']) {
      expect([id, codeOf(await touch(id, child))]).toEqual([id, 'forbidden']);
    }
  });

  it('cannot tell what lies beyond from what does not exist, and is told no candidates there', async () => {
    const shape = (envelope: Envelope) =>
      JSON.stringify(envelope).replaceAll(/sess_otherchild|sess_otherchilx/g, 'X');
    expect(shape(await touch('sess_otherchild'))).toBe(shape(await touch('sess_otherchilx')));
    const ambiguous = await touch('my');
    expect(codeOf(ambiguous)).toBe('session_ambiguous');
    await newSession('sess_myneighbour');
    expect(JSON.stringify(await touch('my'))).toBe(JSON.stringify(ambiguous));
    expect(JSON.stringify(ambiguous)).not.toContain('other');
  });

  it('sees its own tree where an action is about many sessions, whatever it asks for', async () => {
    const own = ['sess_mychild', 'sess_mygrand', 'sess_sibling'];
    expect(await tree(mine)).toEqual(own);
    expect(await tree(mine, 'sess_mychild')).toEqual(['sess_mygrand']);
    expect(await tree({ sessionId: 'sess_mychild' })).toEqual(['sess_mygrand']);
    expect(codeOf(await as(mine, 'note.tree', { below: 'sess_other' }))).toBe('forbidden');
    expect(
      codeOf(await as(mine, 'note.read', { actionId: 'note.tree', input: { below: 'sess_other' } })),
    ).toBe('forbidden');
    expect(await tree({}, 'sess_other')).toEqual(['sess_otherchild']);
    expect(await tree({})).toHaveLength(6);
  });

  it('is offered its own tree as the values of a field', async () => {
    const caller = {
      surface: 'mcp' as const,
      client: 'mcp',
      tokenId: 't',
      tokenKind: 'api' as const,
      scope: mine,
    };
    const options = await t.discovery.options(
      { actionId: 'note.tree', field: 'below', input: {}, limit: 50 },
      caller,
      never,
    );
    expect(options.map(({ value }) => value).sort()).toEqual(await tree(mine));
  });

  it('asks for approvals within its tree, and decides within it where its surface may', async () => {
    const caller: Caller = { surface: 'mcp', client: 'mcp', tokenId: 't', tokenKind: 'api', scope: mine };
    const ask = (sessionId: string) =>
      t.approvals.create({ actionId: 'note.touch', input: { sessionId } }, caller);
    expect(await codeOfThrown(ask('sess_other'))).toBe('forbidden');
    const { artifactId } = await ask('sess_mygrand');
    const decide = (sessionId: string, surface: Surface = 'cli') =>
      codeOfThrown(
        t.approvals.decide(artifactId, 'approve', undefined, {
          ...caller,
          tokenId: 'd',
          surface,
          scope: { sessionId },
        }),
      );
    expect(await decide('sess_mine', 'agent')).toBe('permission_escalation_denied');
    expect(await decide('sess_sibling')).toBe('forbidden');
    expect(await decide('sess_other')).toBe('forbidden');
    expect(await decide('sess_mychild')).toBe('ok');
  });
});

describe('the agent of a session', () => {
  const agent = (sessionId: string, tokenId: string): Caller => ({
    surface: 'agent',
    client: 'agent',
    tokenId,
    tokenKind: 'agent',
    scope: { surfaces: ['agent'], sessionId },
  });

  it('sees and takes back what it asked for, over a new token too, and nothing that others asked for', async () => {
    await newSession('sess_mychild', 'sess_mine');
    const ask = (by: Caller) => t.approvals.create({ actionId: 'note.add', input: { text: by.tokenId } }, by);
    const own = async (sessionId: string) => {
      const note = { actionId: 'note.add', input: { text: sessionId } };
      const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'p', tokenKind: 'device', scope: {} };
      return (await t.approvals.create(note, { ...person, surface: 'mcp' })).artifactId;
    };
    expect(await codeOfThrown(ask(agent('sess_mine', 'tok_a')))).toBe('forbidden');
    const foreign = await own('x');
    const mine = agent('sess_mychild', 'tok_a');
    const filed = await t.approvals.create(
      { actionId: 'note.touch', input: {} },
      { ...mine, surface: 'mcp' },
    );
    const again = { ...agent('sess_mychild', 'tok_b'), surface: 'mcp' as const };
    const see = (artifactId: string, by: Caller) => codeOfThrown(t.approvals.get(artifactId, by));
    expect(await see(filed.artifactId, again)).toBe('ok');
    expect(await see(filed.artifactId, agent('sess_mine', 'tok_c'))).toBe('ok');
    expect(await see(filed.artifactId, agent('sess_other', 'tok_d'))).toBe('approval_not_found');
    expect(await see(foreign, again)).toBe('approval_not_found');
    expect(await codeOfThrown(t.approvals.wait(foreign, 0.01, never, again))).toBe('approval_not_found');
    expect(await codeOfThrown(t.approvals.cancel(foreign, again))).toBe('approval_not_found');
    expect(await codeOfThrown(t.approvals.cancel(filed.artifactId, agent('sess_mine', 'tok_c')))).toBe(
      'forbidden',
    );
    expect(await codeOfThrown(t.approvals.cancel(filed.artifactId, again))).toBe('ok');
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
