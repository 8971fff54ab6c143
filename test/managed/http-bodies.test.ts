import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connect,
  type FakeMcp,
  type FakeOptions,
  refuse,
  resultOf,
  type Seen,
  startFakeMcp,
} from './http-fakes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A server whose calls are answered by hand, and a client of it. */
async function world(onCall: (seen: Seen, n: number) => void | Promise<void>, more: FakeOptions = {}) {
  let calls = 0;
  const fake: FakeMcp = await startFakeMcp({
    ...more,
    async instead(seen, server) {
      if (seen.message?.method !== 'tools/call') return (await more.instead?.(seen, server)) === true;
      await onCall(seen, ++calls);
      return true;
    },
  });
  ends.push(fake.close);
  const made = await connect({ url: fake.url });
  ends.push(made.close);
  return { fake, ...made };
}

const textOf = (text: string) => ({ content: [{ type: 'text', text }] });
const stream = ({ response }: Seen) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (message: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
const TEXT = '— 漢 🧑‍🚀 é(NFD)';

describe('the body of an answer', () => {
  it.each(['application/json', 'text/event-stream'])('as %s arrives whole, byte by byte', async (type) => {
    const { call } = await world(async (seen) => {
      seen.response.writeHead(200, { 'content-type': type });
      const whole = resultOf(seen, textOf(TEXT));
      for (const byte of Buffer.from(type === 'application/json' ? JSON.stringify(whole) : event(whole))) {
        seen.response.write(Buffer.from([byte]));
        await setImmediate();
      }
      seen.response.end();
    });
    expect(await call()).toMatchObject(textOf(TEXT));
  });

  it('comes after 1,200 notifications in the same stream', async () => {
    const { call } = await world((seen) => {
      stream(seen);
      for (let n = 0; n < 1200; n++) {
        const params = { level: 'info', data: n };
        seen.response.write(event({ jsonrpc: '2.0', method: 'notifications/message', params }));
      }
      seen.response.end(event(resultOf(seen, textOf('at last'))));
    });
    expect(await call()).toMatchObject(textOf('at last'));
  });

  it.each(['application/json', 'text/event-stream'])(
    'over 16 MiB as %s is refused, and the next call works',
    async (type) => {
      const { call } = await world((seen, n) => {
        if (n > 1) {
          seen.response.writeHead(200, { 'content-type': 'application/json' });
          seen.response.end(JSON.stringify(resultOf(seen, textOf('fine'))));
          return;
        }
        seen.response.writeHead(200, { 'content-type': type });
        seen.response.on('error', () => undefined);
        const piece = Buffer.alloc(1024 * 1024, 'a');
        seen.response.write('data: {"jsonrpc":"2.0","x":"');
        for (let i = 0; i < 20; i++) seen.response.write(piece);
      });
      await expect(call()).rejects.toMatchObject({
        code: 'payload_too_large',
        message: expect.stringContaining('16 MiB'),
      });
      expect(await call()).toMatchObject(textOf('fine'));
    },
  );

  it('may be long, as many events of a stream that is not', async () => {
    const { call } = await world(async (seen) => {
      stream(seen);
      const data = 'a'.repeat(1024 * 1024);
      for (let n = 0; n < 24; n++) {
        seen.response.write(
          event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } }).slice(
            0,
            -1,
          ),
        );
        // The empty line that ends it comes in a piece of its own.
        await setImmediate();
        seen.response.write('\n');
        await setImmediate();
      }
      seen.response.end(event(resultOf(seen, textOf('done'))));
    });
    expect(await call()).toMatchObject(textOf('done'));
  });

  it.each([
    ['a web page', 'text/html', '<html>', 'not one of MCP'],
    ['JSON that breaks off', 'application/json', '{"jsonrpc":', 'not a message of MCP'],
    ['JSON of another kind', 'application/json', '{"hello":1}', 'not a message of MCP'],
  ])('that is %s is told so', async (_, type, body, said) => {
    const { call } = await world((seen) => void refuse(seen, 200, { 'content-type': type }, body));
    await expect(call()).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining(said),
    });
  });

  it('that refuses is quoted, bounded and without secrets', async () => {
    const { call } = await world(
      (seen) => void refuse(seen, 500, {}, `token=geheim-1234567 ${'x'.repeat(5000)}\u202e`),
    );
    const error = await call().catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain('HTTP 500');
    expect((error as Error).message).not.toContain('geheim');
    expect((error as Error).message.length).toBeLessThan(500);
  });
});

describe('a stream that breaks', () => {
  it('is resumed where it was', async () => {
    let asked: Seen['message'];
    const { call, fake } = await world(
      (seen) => {
        asked = seen.message;
        stream(seen);
        seen.response.write('retry: 10\n');
        seen.response.end('id: 41\ndata:\n\n');
      },
      {
        instead(seen) {
          if (seen.http.headers['last-event-id'] !== '41') return false;
          stream(seen);
          seen.response.end(event({ jsonrpc: '2.0', id: asked?.id, result: textOf('resumed') }, '42'));
          return true;
        },
      },
    );
    expect(await call()).toMatchObject(textOf('resumed'));
    expect(fake.log.filter((line) => line === 'POST tools/call')).toHaveLength(1);
  });

  it('for good fails its call at once, and no other', async () => {
    const held: Seen[] = [];
    const { call, client } = await world((seen) => {
      held.push(seen);
      const params = { level: 'info', data: held.length };
      stream(seen).write(event({ jsonrpc: '2.0', method: 'notifications/message', params }));
    });
    const both = new Promise<void>((resolve) => {
      let heard = 0;
      client.setNotificationHandler('notifications/message', () => (++heard === 2 ? resolve() : undefined));
    });
    const calls = [call({ n: 1 }, 60_000), call({ n: 2 }, 60_000)];
    await both;
    held[1]!.response.destroy();
    await expect(Promise.race(calls)).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining('broke before the answer'),
    });
    held[0]!.response.end(event(resultOf(held[0]!, textOf('fine'))));
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('never begun fails its call at once', async () => {
    const { call } = await world((seen) => void refuse(seen, 202));
    await expect(call({}, 60_000)).rejects.toMatchObject({ message: expect.stringContaining('HTTP 202') });
  });

  it('lets go of the request when the call is called off', async () => {
    let gone: (() => void) | undefined;
    const isGone = new Promise<void>((resolve) => (gone = resolve));
    const { call, fake } = await world((seen) => {
      stream(seen).write(': here\n\n');
      seen.response.on('close', () => gone?.());
    });
    await expect(call({}, 50)).rejects.toThrow('timed out');
    await isGone;
    expect(fake.log).toContain('POST notifications/cancelled');
  });

  it('again and again is not opened in a storm, whatever pause the server asks for', async () => {
    let opened = 0;
    const { close } = await world(() => undefined, {
      instead(seen) {
        if (seen.http.method !== 'GET') return false;
        opened++;
        stream(seen);
        seen.response.end('retry: 0\nid: 1\ndata:\n\n');
        return true;
      },
    });
    await expect.poll(() => opened, { timeout: 5000 }).toBe(10);
    const before = opened;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(opened - before).toBeLessThan(2);
    await close();
  });
});
