import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { connect, type FakeOptions, refuse, resultOf, type Seen, startFakeMcp } from './http-fakes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const results: Record<string, (seen: Seen) => unknown> = {
  initialize: () => ({
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'old', version: '1' },
  }),
  'tools/call': ({ message }) => ({
    content: [{ type: 'text', text: JSON.stringify(message?.params?.['arguments']) }],
  }),
};

/** A server of the kind before Streamable HTTP: answers come on a stream that is opened first. */
async function startOld(endpoint = '/messages?session=1', more: FakeOptions = {}) {
  const streams: ServerResponse[] = [];
  const fake = await startFakeMcp({
    async instead(seen, server) {
      const { http, response, message } = seen;
      if ((await more.instead?.(seen, server)) === true) return true;
      if (http.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
        streams.push(response);
        return true;
      }
      if (http.url === '/mcp') return refuse(seen, 405);
      refuse(seen, 202);
      const result = results[message?.method ?? '']?.(seen);
      if (result !== undefined) {
        streams.at(-1)!.write(`event: message\ndata: ${JSON.stringify(resultOf(seen, result))}\n\n`);
      }
      return true;
    },
  });
  ends.push(fake.close);
  return { fake, streams };
}

async function connected(url: string) {
  const made = await connect({ url, token: 'secret' });
  ends.push(made.close);
  return made;
}

describe('a server of the older kind', () => {
  it('is spoken to over SSE, with the token', async () => {
    const { fake } = await startOld();
    const { call, opened } = await connected(fake.url);
    expect(opened.kind).toBe('sse');
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => call({ n })));
    expect(answers.map(({ content }) => content[0])).toEqual(
      Array.from({ length: 12 }, (_, n) => ({ type: 'text', text: `{"n":${n}}` })),
    );
    expect(fake.seen.every(({ http }) => http.headers.authorization === 'Bearer secret')).toBe(true);
  });

  it('whose stream breaks ends the connection, and its open calls', async () => {
    const { fake, streams } = await startOld('/messages', {
      instead: (seen) => seen.message?.method === 'tools/call' && refuse(seen, 202),
    });
    const { call, client } = await connected(fake.url);
    const closed = new Promise<void>((resolve) => {
      Object.assign(client, { onclose: resolve });
    });
    const open = call({}, 60_000);
    await expect.poll(() => fake.log).toContain('POST tools/call');
    streams[0]!.destroy();
    await expect(open).rejects.toThrow('closed');
    await closed;
    expect(fake.log.filter((line) => line === 'GET')).toHaveLength(1);
  });

  it('may not send its messages elsewhere', async () => {
    const elsewhere = await startFakeMcp();
    ends.push(elsewhere.close);
    const { fake } = await startOld(`${new URL(elsewhere.url).origin}/messages`);
    await expect(connect({ url: fake.url, token: 'secret' })).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
    });
    expect(elsewhere.log).toEqual([]);
  });

  it.each([400, 404, 405])('that is none and answers %i is told by that answer', async (status) => {
    const fake = await startFakeMcp({ instead: (seen) => refuse(seen, status) });
    ends.push(fake.close);
    await expect(connect({ url: fake.url })).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining(`HTTP ${status}`),
    });
  });

  it.each([401, 403, 429, 500])('is not looked for after an answer of %i', async (status) => {
    const fake = await startFakeMcp({ instead: (seen) => refuse(seen, status) });
    ends.push(fake.close);
    await expect(connect({ url: fake.url })).rejects.toThrow(/./);
    expect(fake.log).not.toContain('GET');
  });

  it('that never names its endpoint is given up on', async () => {
    const fake = await startFakeMcp({
      instead(seen) {
        if (seen.http.method === 'POST') return refuse(seen, 405);
        seen.response.writeHead(200, { 'content-type': 'text/event-stream' });
        seen.response.write(': hello\n\n');
        return true;
      },
    });
    ends.push(fake.close);
    await expect(connect({ url: fake.url, connectTimeoutSeconds: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('HTTP 405'),
    });
  });
});
