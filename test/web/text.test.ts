import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../src/web/session/diff.ts';
import { type LiveBlock, tailOf } from '../../src/web/session/streaming.ts';

test('stored and live text together are the text, wherever somebody came in', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,6} $/), { minLength: 4, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.nat(), fc.nat(), (pieces, from, cut) => {
      // Each piece is told apart from the others, as real text mostly is.
      const text = pieces.map((piece, i) => `${i}${piece}`);
      const start = from % text.length;
      const live: LiveBlock = { pieces: '' };
      for (const piece of text.slice(start)) live.pieces += piece;
      const whole = text.join('');
      const joined = text.slice(0, start).join('').length;
      const stored = whole.slice(0, joined + 1 + (cut % Math.max(1, whole.length - joined)));
      expect(stored + tailOf(live, stored)).toBe(whole);
      expect(whole + tailOf(live, whole)).toBe(whole);
    }),
  );
});

test('text that repeats itself is never shown twice, whichever side is ahead', () => {
  const count = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(count, fc.array(fc.tuple(count, count), { minLength: 1, maxLength: 20 }), (all, steps) => {
      const live: LiveBlock = { pieces: '' };
      let stored = '';
      for (const [came, kept] of steps) {
        live.pieces = '.'.repeat(Math.min(all, Math.max(live.pieces.length, came)));
        stored = '.'.repeat(Math.min(all, Math.max(stored.length, kept)));
        const ahead = Math.max(live.pieces.length, stored.length);
        expect(stored.length + tailOf(live, stored).length).toBe(ahead);
      }
    }),
  );
});

test('before anything is stored, all that came is shown', () => {
  expect(tailOf({ pieces: 'Hello' }, '')).toBe('Hello');
});

/** A text of no lines and one of one empty line are the same text. */
const linesOf = (lines: string[]): string[] => (lines.join('\n') === '' ? [] : lines);

test('a comparison, put together again, gives both texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const found = diffLines(a.join('\n'), b.join('\n'))!;
      fc.pre(!found.some(({ kind }) => kind === 'skip'));
      const side = (own: 'add' | 'del') =>
        found.filter(({ kind }) => kind === 'same' || kind === own).map(({ text }) => text);
      expect({ before: side('del'), after: side('add') }).toEqual({ before: linesOf(a), after: linesOf(b) });
    }),
  );
});

test('far from a change nothing is shown; what is too long is not compared', () => {
  const long = Array.from({ length: 400 }, (_, i) => `line ${i}`);
  const changed = long.with(200, 'other');
  expect(diffLines(long.join('\n'), changed.join('\n'))).toHaveLength(10);
  const all = Array.from({ length: 4000 }, (_, i) => `${i}`);
  const none = Array.from({ length: 4000 }, (_, i) => `x${i}`);
  expect(diffLines(all.join('\n'), none.join('\n'))).toBeUndefined();
});
