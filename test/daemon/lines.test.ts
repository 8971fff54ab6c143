import { expect, test } from 'vitest';
import { toFrame } from '../../src/daemon/acp/frame.ts';
import { createLineSplitter } from '../../src/daemon/acp/lines.ts';

function collect(maxBytes = 1024) {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => lines.push(line),
    onTooLong: () => (tooLong += 1),
  });
  return { splitter, lines, tooLong: () => tooLong };
}

test('lines arrive whole however the bytes are cut', () => {
  const text = 'first\n— 漢 🧑‍🚀 e\u0301\n\nlast';
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const { splitter, lines } = collect();
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
    splitter.end();
    expect(lines).toEqual(text.split('\n'));
  }
});

test('a line past the limit is told once, and nothing comes after it', () => {
  const { splitter, lines, tooLong } = collect(10);
  splitter.push(Buffer.from('short\n12345'));
  splitter.push(Buffer.from('678901'));
  splitter.push(Buffer.from('\nmore\n'));
  splitter.end();
  expect(lines).toEqual(['short']);
  expect(tooLong()).toBe(1);
});

test('sixteen times the bytes in small pieces take about sixteen times as long, not 256 times', () => {
  const timeOf = (bytes: number) => {
    const piece = Buffer.alloc(64, 120);
    const { splitter } = collect(64 * 1024 * 1024);
    const start = performance.now();
    for (let sent = 0; sent < bytes; sent += piece.length) splitter.push(piece);
    splitter.end();
    return performance.now() - start;
  };
  timeOf(1024 * 1024);
  const small = Math.min(...[1, 2, 3].map(() => timeOf(1024 * 1024)));
  const large = Math.min(...[1, 2].map(() => timeOf(16 * 1024 * 1024)));
  expect(large / Math.max(small, 1)).toBeLessThan(100);
});

test('noise around a message is told from the message', () => {
  const message = { jsonrpc: '2.0', id: 1, result: { a: '{' } };
  const json = JSON.stringify(message);
  expect(toFrame(json)).toEqual({ noise: '', message });
  expect(toFrame(`\u001b]0;title\u0007${json}`)).toEqual({ noise: '\u001b]0;title\u0007', message });
  expect(toFrame(`{braces} ${json}`)).toEqual({ noise: '{braces}', message });
  expect(toFrame('{"not": "rpc"}')).toEqual({ noise: '{"not": "rpc"}' });
  expect(toFrame('hello')).toEqual({ noise: 'hello' });
  expect(toFrame('')).toEqual({ noise: '' });
});
