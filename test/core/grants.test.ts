import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/core/call.ts';
import type { KaiwuError } from '../../src/core/errors.ts';
import type { GrantRequest } from '../../src/core/ports/governance.ts';
import { call, t, useEngine } from './helpers/engine-world.ts';

useEngine();

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };

const ask = async (input: Record<string, unknown>) => {
  const envelope = await call('note.add', input, { surface: 'mcp' });
  if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
  return envelope.approval;
};
const create = (artifactId: string, more: Partial<GrantRequest> = {}, by: Caller = person) =>
  t.grants.create({ artifactId, onThisMachineOnly: true, hours: 1, uses: 3, ...more }, by);
/** As a person does: says yes first, which runs it once, then allows the like. */
async function give(artifactId: string, more: Partial<GrantRequest> = {}) {
  await t.approvals.decide(artifactId, 'approve', undefined, person);
  t.effects.length = 0;
  return create(artifactId, more);
}
const add = async (input: Record<string, unknown>, surface: 'mcp' | 'agent' = 'mcp') =>
  (await call('note.add', input, { surface })).status;
const codeOfThrown = (run: Promise<unknown>) =>
  run.then(
    () => 'ok',
    (error: unknown) => (error as KaiwuError).code,
  );

beforeEach(async () => {
  await t.store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test');
  await call('note.peek');
});

describe('a grant', () => {
  it('lets exactly the like run, as often as it says, and each use is audited', async () => {
    const { artifactId } = await ask({ text: 'a', place: '/x' });
    const { grantId } = await give(artifactId);
    expect(await add({ text: 'a', place: '/x' })).toBe('ok');
    expect(await add({ text: 'b', place: '/x' })).toBe('approval_required');
    expect(await add({ text: 'a' })).toBe('approval_required');
    expect(await add({ text: 'a', place: '/x' }, 'agent')).toBe('approval_required');
    expect([await add({ text: 'a', place: '/x' }), await add({ text: 'a', place: '/x' })]).toEqual([
      'ok',
      'ok',
    ]);
    expect(await add({ text: 'a', place: '/x' })).toBe('approval_required');
    expect(t.effects).toEqual(['a', 'a', 'a']);
    const { items } = await t.store.audit.list({ outcome: 'ok', actionId: 'note.add' }, { limit: 50 });
    const unasked = items.filter(({ approvalId }) => approvalId === undefined);
    expect(unasked.map((row) => row.grantId)).toEqual([grantId, grantId, grantId]);
  });

  it('can hold one field alone, or a folder and what lies below it, and no way out of that folder', async () => {
    const { artifactId } = await ask({ text: 'a', place: '/work/project' });
    await give(artifactId, { pins: { place: 'prefix' }, uses: 100 });
    for (const place of ['/work/project', '/work/project/', '/work/project/deep/er']) {
      expect([place, await add({ text: 'any', place })]).toEqual([place, 'ok']);
    }
    const outside = [
      '/work/project2',
      '/work',
      '/work/project/../secret',
      '/work/project/./x',
      'work/project',
      '/WORK/project',
    ];
    for (const place of outside) {
      expect([place, await add({ text: 'any', place })]).toEqual([place, 'approval_required']);
    }
  });

  it('ends by time, by revocation, and with more uses than one at a time takes no more than it has', async () => {
    const { artifactId } = await ask({ text: 'a' });
    const first = await give(artifactId);
    await t.grants.revoke(first.grantId, person);
    expect(await add({ text: 'a' })).toBe('approval_required');
    await create(artifactId, { uses: 5 });
    const twenty = await Promise.all(Array.from({ length: 20 }, () => add({ text: 'a' })));
    expect(twenty.filter((status) => status === 'ok')).toHaveLength(5);
    await create(artifactId, { uses: 5 });
    t.runtime.advance(3_600_001);
    expect(await add({ text: 'a' })).toBe('approval_required');
    expect(t.effects).toHaveLength(5);
  });

  it('is given and taken by a person only', async () => {
    const { artifactId } = await ask({ text: 'a' });
    const { grantId } = await give(artifactId);
    for (const surface of ['mcp', 'agent', 'voice'] as const) {
      expect(await codeOfThrown(create(artifactId, {}, { ...person, surface }))).toBe(
        'permission_escalation_denied',
      );
      expect(await codeOfThrown(t.grants.revoke(grantId, { ...person, surface }))).toBe(
        'permission_escalation_denied',
      );
    }
    expect(await codeOfThrown(create('nobody'))).toBe('approval_not_found');
    expect(await codeOfThrown(create(artifactId, { pins: { absent: 'exact' } }))).toBe('invalid_input');
    expect(await codeOfThrown(create(artifactId, { pins: { text: 'prefix' } }))).toBe('invalid_input');
    expect(await codeOfThrown(t.grants.revoke('grant_nobody', person))).toBe('not_found');
  });

  it('by default covers the very call, with nothing added to it, and needs a yes first', async () => {
    const { artifactId } = await ask({ text: 'a' });
    expect(await codeOfThrown(create(artifactId))).toBe('conflict');
    await give(artifactId);
    expect(await add({ text: 'a', place: '/anywhere' })).toBe('approval_required');
    expect(await add({ text: 'a' })).toBe('ok');
    const denied = await ask({ text: 'b' });
    await t.approvals.decide(denied.artifactId, 'deny', undefined, person);
    expect(await codeOfThrown(create(denied.artifactId))).toBe('conflict');
  });

  it('never waives a floor', async () => {
    const { artifactId } = await t.approvals.create(
      { actionId: 'note.wipe', input: {} },
      { ...person, surface: 'agent', tokenId: 'tok_1' },
    );
    await give(artifactId);
    expect((await call('note.wipe', {}, { surface: 'agent' })).status).toBe('approval_required');
  });

  it('that came near is named, with why it did not cover the call', async () => {
    const { artifactId } = await ask({ text: 'a' });
    const { grantId } = await give(artifactId);
    const near = await ask({ text: 'b' });
    const approval = await t.approvals.get(near.artifactId);
    expect(approval.nearestGrant).toEqual({ grantId, reason: 'text is not "a"' });
    const asker: Caller = { ...person, surface: 'mcp', tokenId: 'tok_1' };
    const explained = await t.discovery.explain({ actionId: 'note.add', input: { text: 'a' } }, asker);
    expect(explained.grants).toEqual([{ grantId, covers: true }]);
  });
});
