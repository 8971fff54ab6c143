import { expect, test } from 'vitest';
import { toDescription } from '../../src/web/files/file-state.ts';
import { toPieces } from '../../src/web/session/tool-pieces.ts';

test('what an agent says of a step is shown whatever its shape', () => {
  for (const content of [undefined, null, 'text', 7, {}, { length: 2 }])
    expect(toPieces(content)).toEqual([]);
  expect(
    toPieces([
      null,
      'text',
      7,
      { content: null },
      { content: { text: { deep: true } } },
      { type: 'content', content: { type: 'text', text: 'said' } },
      { type: 'diff', path: 5, oldText: null, newText: ['x'] },
      { type: 'diff', path: 'a.txt', oldText: 'a', newText: 'b' },
    ]),
  ).toEqual([
    { text: 'said' },
    { diff: { path: '', before: '', after: '' } },
    { diff: { path: 'a.txt', before: 'a', after: 'b' } },
  ]);
});

test('a sealed description that is not whole is none', () => {
  const whole = { fileId: 'f', path: 'p', fileName: 'n', mimeType: 'text/plain', sha256: 'h', sizeBytes: 1 };
  expect(toDescription(whole)).toEqual(whole);
  expect(toDescription({ ...whole, message: 'hi' })).toEqual({ ...whole, message: 'hi' });
  const { mimeType: _, ...without } = whole;
  for (const other of [null, 'text', [], without, { ...whole, message: 7 }, { ...whole, sizeBytes: '1' }]) {
    expect(toDescription(other)).toBeUndefined();
  }
});
