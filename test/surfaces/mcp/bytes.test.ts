import { describe, expect, test } from 'vitest';
import { createLineSplitter } from '../../../src/surfaces/mcp/lines.ts';
import { useSetup } from './helpers/setup.ts';

const MIXED = '— 漢 🧑‍🚀 e\u0301';
const MIB = 1024 * 1024;

function split(pieces: Buffer[], maxBytes = 64 * MIB) {
  const lines: string[] = [];
  const tooLong: [string, string][] = [];
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => void lines.push(line),
    onTooLong: (head, tail) => void tooLong.push([head, tail]),
  });
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return { lines, tooLong };
}

function* cut(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('lines', () => {
  test.each([1, 2, 3, 5, 7, 1000])('are whole whatever the pieces: %i bytes', (size) => {
    const lines = [MIXED, '', MIXED.repeat(50), 'x'];
    const bytes = Buffer.from(lines.join('\n'));
    expect(split([...cut(bytes, size)]).lines).toEqual(lines);
  });

  test('that are too long leave their ends, and the next line is read', () => {
    const long = `head${'x'.repeat(5000)}tail`;
    for (const size of [3, 700, 100_000]) {
      const { lines, tooLong } = split([...cut(Buffer.from(`a\n${long}\nb\n${long}`), size)], 2000);
      expect(lines).toEqual(['a', 'b']);
      expect(tooLong.map(([head, tail]) => [head.length, tail.length])).toEqual([
        [1024, 1024],
        [1024, 1024],
      ]);
      expect(tooLong.every(([head, tail]) => head.startsWith('head') && tail.endsWith('tail'))).toBe(true);
    }
  });

  test('cost time in proportion to their length, also in small pieces', () => {
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
});

const setup = useSetup();

test('a request that arrives byte by byte is read whole, and its answer too', async () => {
  const backend = await setup.backend();
  const host = await setup.host();
  await host.initialize();
  const params = { name: 'session_list', arguments: { text: MIXED } };
  const line = Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params })}\n`,
  );
  for (const byte of cut(line, 1)) {
    host.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { result } = await host.message(({ id }) => id === 'slow');
  expect(backend.calls[0]?.input).toEqual({ text: MIXED });
  expect(result.structuredContent.input.text).toBe(MIXED);
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
});

test('a call of 5 MiB is passed on and answered, and so is the next one', async () => {
  const backend = await setup.backend();
  backend.answer = ({ input }) => ({
    status: 'ok',
    output: { length: (input as { text: string }).text.length },
  });
  const host = await setup.host();
  await host.initialize();
  const large = await host.request('tools/call', { name: 'x', arguments: { text: 'y'.repeat(5 * MIB) } });
  expect(large.result.structuredContent).toEqual({ length: 5 * MIB });
  const next = await host.request('tools/call', { name: 'x', arguments: { text: 'y' } });
  expect(next.result.structuredContent).toEqual({ length: 1 });
});

test('a large result arrives whole', async () => {
  const backend = await setup.backend();
  backend.answer = () => ({ status: 'ok', output: { text: MIXED.repeat(100_000) } });
  const host = await setup.host();
  await host.initialize();
  const { result } = await host.request('tools/call', { name: 'x' });
  expect(result.structuredContent.text).toBe(MIXED.repeat(100_000));
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
});

test.each([
  [
    'at its start',
    (text: string) => `{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"a":"${text}"}}`,
  ],
  [
    'at its end',
    (text: string) => `{"method":"tools/call","params":{"a":"${text}"},"jsonrpc":"2.0","id":"big"}`,
  ],
])('a message that is too large is refused by its id %s, and the process lives', async (_, toLine) => {
  const backend = await setup.backend();
  const host = await setup.host();
  await host.initialize();
  host.write(`${toLine('z'.repeat(17 * MIB))}\n`);
  const refused = await host.message(({ id }) => id === 'big');
  expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining('too large') });
  expect((await host.request('tools/call', { name: 'x' })).result.isError).toBeUndefined();
  expect(backend.calls).toHaveLength(1);
});
