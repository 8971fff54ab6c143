import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Caller, Envelope } from '../../src/core/call.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import { openVoiceWorld, type VoiceWorld } from './helpers/voice-world.ts';

let w: VoiceWorld;
beforeEach(async () => {
  w = await openVoiceWorld();
});
afterEach(() => w.close());

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };
const codeOf = (envelope: Envelope) => (envelope.status === 'error' ? envelope.error.code : envelope.status);
const add = (text: string, confirmation?: string) =>
  w.say('memo.add', { text }, confirmation === undefined ? {} : { confirmation });

it('no order of asking, guessing, waiting and deciding runs a call more often than it was agreed to', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), text: fc.nat(2) }),
    fc.record({ do: fc.constant('yes' as const), text: fc.nat(2), code: fc.nat(5) }),
    fc.record({
      do: fc.constant('guess' as const),
      text: fc.nat(2),
      code: fc.integer({ min: 1000, max: 9999 }),
    }),
    fc.record({ do: fc.constant('time' as const), seconds: fc.constantFrom(10, 70, 130) }),
    fc.record({ do: fc.constant('deny' as const), which: fc.nat(5) }),
  );
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(rounds, async (story) => {
      const heard: { text: string; code: string; artifactId: string }[] = [];
      const before = w.effects.length;
      for (const round of story) {
        // Refusals are part of the story.
        const ends = await Promise.allSettled(
          round.map(async (now) => {
            if (now.do === 'time') return w.runtime.advance(now.seconds * 1000);
            if (now.do === 'deny') {
              const one = heard[now.which % Math.max(1, heard.length)];
              return w.approvals.decide(one?.artifactId ?? 'none', 'deny', undefined, person);
            }
            const text = `memo ${now.text}`;
            const known = heard[now.do === 'yes' ? now.code % Math.max(1, heard.length) : 0]?.code;
            const code = now.do === 'guess' ? String(now.code) : now.do === 'yes' ? known : undefined;
            const answer = await add(text, code);
            if (answer.status !== 'approval_required')
              return expect([now.do, codeOf(answer)]).not.toEqual(['ask', 'ok']);
            heard.push({ text, code: answer.confirmation!.code, artifactId: answer.approval.artifactId });
          }),
        );
        const bad = ends.filter((end) => end.status === 'rejected' && !(end.reason instanceof KaiwuError));
        expect(bad).toEqual([]);
      }
      const { items } = await w.approvals.list({}, { limit: 200 });
      const mine = items.filter(({ artifactId }) => heard.some((one) => one.artifactId === artifactId));
      const succeeded = mine.filter(({ status }) => status === 'succeeded').length;
      expect(w.effects.length - before).toBe(succeeded);
      // The next story begins when all of this one is over.
      w.runtime.advance(2 * 86_400_000);
    }),
    { numRuns: 60 },
  );
}, 60_000);
