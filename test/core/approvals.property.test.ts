import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalStatus } from '../../src/core/approval.ts';
import { type Caller, CallWithdrawn } from '../../src/core/call.ts';
import type { ActionEngine } from '../../src/core/engine.ts';
import type { ApprovalStore } from '../../src/core/ports/stores.ts';
import { identity, makeEngine, never, openEngineWorld, t } from './helpers/engine-world.ts';

/** Steps of a story. Those of one round happen at once. */
type Step =
  | { do: 'ask'; text: number }
  | { do: 'decide'; which: number; decision: 'approve' | 'deny' }
  | { do: 'withdraw'; which: number }
  | { do: 'hang up'; which: number }
  | { do: 'time'; hours: number }
  | { do: 'bar'; barred: boolean }
  | { do: 'crash'; at: 'before the effect' | 'after the effect' };

const which = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), text: fc.nat(5) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      which,
      decision: fc.constantFrom('approve' as const, 'approve' as const, 'deny' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hang up' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('time' as const), hours: fc.constantFrom(1, 23, 25) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bar' as const), barred: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      at: fc.constantFrom('before the effect' as const, 'after the effect' as const),
    }),
  },
);
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };
const asker: Caller = { ...person, surface: 'mcp', tokenId: identity.tokenId };

/** What each final state says of the effect. */
const EFFECTS: Record<ApprovalStatus, number[]> = {
  pending: [0],
  approved: [0],
  executing: [0, 1],
  succeeded: [1],
  failed: [0],
  unknown: [0, 1],
  denied: [0],
  expired: [0],
  canceled: [0],
};

/** A store whose process dies at a move: everything after it never happens. */
function dying(store: ApprovalStore, at: () => string | undefined): ApprovalStore {
  return {
    ...store,
    async move(artifactId, from, to, ...rest) {
      if (at() === 'after the effect' && from === 'executing') throw new Error('the process is dead');
      const won = await store.move(artifactId, from, to, ...rest);
      if (at() === 'before the effect' && to === 'approved' && won) throw new Error('the process is dead');
      return won;
    },
  };
}

async function play(rounds: Step[][]): Promise<{ approvals: Approval[]; filed: string[] }> {
  let dies: string | undefined;
  let owner = 1;
  const filed: string[] = [];
  const store = dying(t.store.approvals, () => dies);
  let engine: ActionEngine = makeEngine(`owner-${owner}`, store);
  const enter = async () => {
    await engine.execute({ actionId: 'note.peek', context: { surface: 'cli' } }, identity, never);
  };
  await enter();
  const known = (index: number) => filed[index % Math.max(1, filed.length)] ?? 'none';

  async function take(now: Step): Promise<void> {
    switch (now.do) {
      case 'ask': {
        const call = {
          actionId: 'note.add',
          input: { text: `t${now.text}` },
          context: { surface: 'mcp' as const },
        };
        const envelope = await engine.execute(call, identity, never);
        if (envelope.status === 'approval_required') filed.push(envelope.approval.artifactId);
        return;
      }
      case 'decide':
        await t.approvals.decide(known(now.which), now.decision, undefined, person);
        return;
      case 'withdraw':
      case 'hang up': {
        const control = new AbortController();
        const waiting = t.approvals.wait(known(now.which), 30, control.signal, asker);
        control.abort(now.do === 'withdraw' ? new CallWithdrawn() : undefined);
        await waiting;
        return;
      }
      case 'time':
        t.runtime.advance(now.hours * 3_600_000);
        return;
      case 'bar':
        await t.store.policies.set({ 'note.add': { mcp: { enabled: !now.barred } } }, undefined, 'test');
        return;
      case 'crash':
        dies = now.at;
    }
  }

  for (const round of rounds) {
    // Refusals are part of the story.
    await Promise.allSettled(round.map(take));
    if (dies === undefined) continue;
    dies = undefined;
    engine = makeEngine(`owner-${++owner}`, store);
    await engine.recover();
    await engine.resume();
    await enter();
  }
  engine = makeEngine('last', store);
  await engine.recover();
  await engine.resume();
  await enter();
  const { items: approvals } = await t.approvals.list({}, { limit: 200 });
  return { approvals, filed };
}

describe('no interleaving of requesters, deciders, crashes and clock steps', () => {
  it('runs a request twice, runs one that it should not, or loses one', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (rounds) => {
        const close = await openEngineWorld();
        try {
          await t.store.policies.set({ 'note.add': { mcp: { approval: true } } }, undefined, 'test');
          const { approvals, filed } = await play(rounds);
          const kept = new Set(approvals.map(({ artifactId }) => artifactId));
          expect(filed.filter((artifactId) => !kept.has(artifactId))).toEqual([]);
          expect(approvals.filter(({ status }) => status === 'approved' || status === 'executing')).toEqual(
            [],
          );
          for (const text of new Set(approvals.map(({ input }) => String(input['text'])))) {
            const ran = t.effects.filter((effect) => effect === text).length;
            const same = approvals.filter(({ input }) => input['text'] === text);
            const least = same.reduce((sum, { status }) => sum + Math.min(...EFFECTS[status]), 0);
            const most = same.reduce((sum, { status }) => sum + Math.max(...EFFECTS[status]), 0);
            expect(ran).toBeGreaterThanOrEqual(least);
            expect(ran).toBeLessThanOrEqual(most);
          }
        } finally {
          await close();
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
