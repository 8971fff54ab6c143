import { expect, test } from 'vitest';
import { createLineSplitter } from '../../src/core/lines.ts';

const MIXED = '\uFEFF— 漢 🧑‍🚀 e\u0301';
const MIB = 1024 * 1024;

function split(pieces: Iterable<Uint8Array>, maxBytes = 64 * MIB) {
  const lines: string[] = [];
  const dropped: [string, string][] = [];
  let tooLong = 0;
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => void lines.push(line),
    onTooLong: () => (tooLong += 1),
    onDropped: (head, tail) => void dropped.push([head, tail]),
  });
  for (const piece of pieces) splitter.push(piece);
  const soFar = tooLong;
  splitter.end();
  return { lines, dropped, tooLong: soFar };
}

function* cut(bytes: Uint8Array, size: number): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 3, 5, 7, 1000])('lines are whole whatever the pieces: %i bytes', (size) => {
  const lines = [MIXED, '', MIXED.repeat(50), 'x'];
  expect(split(cut(Buffer.from(lines.join('\n')), size)).lines).toEqual(lines);
});

test('lines that are too long leave their ends, and the next line is read', () => {
  const long = `head${'x'.repeat(5000)}tail`;
  for (const size of [1, 3, 700, 1999, 100_000]) {
    const { lines, dropped, tooLong } = split(cut(Buffer.from(`a\n${long}\nb\n${long}`), size), 2000);
    expect(lines).toEqual(['a', 'b']);
    expect(tooLong).toBe(2);
    expect(dropped.map(([head, tail]) => [head.length, tail.length])).toEqual([
      [1024, 1024],
      [1024, 1024],
    ]);
    expect(dropped.every(([head, tail]) => head.startsWith('head') && tail.endsWith('tail'))).toBe(true);
  }
});

test('a line without an end is known to be too long before any end', () => {
  expect(split(cut(Buffer.alloc(100, 'x'), 7), 10)).toMatchObject({ lines: [], tooLong: 1 });
});

test('lines cost time in proportion to their length, also in small pieces', () => {
  const time = (size: number) => {
    const pieces = [...cut(Buffer.alloc(size, 'x'), 64)];
    const from = performance.now();
    expect(split(pieces).lines[0]?.length).toBe(size);
    return performance.now() - from;
  };
  time(MIB);
  const small = Math.max(time(MIB), 5);
  // In proportion it is 16 times; growing with the square it would be 256 times.
  expect(time(16 * MIB) / small).toBeLessThan(100);
});
