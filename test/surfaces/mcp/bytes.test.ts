import { expect, test } from 'vitest';
import { useSetup } from './helpers/setup.ts';

const MIXED = '— 漢 🧑‍🚀 e\u0301';
const MIB = 1024 * 1024;

function* cut(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

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
