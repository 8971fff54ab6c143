import { afterEach, describe, expect, it } from 'vitest';
import { connect, createDeps, type FakeMcp, type FakeOptions, refuse, startFakeMcp } from './http-fakes.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(options: FakeOptions = {}): Promise<FakeMcp> {
  const fake = await startFakeMcp(options);
  ends.push(fake.close);
  return fake;
}

async function connected(url: string) {
  const made = await connect({ url });
  ends.push(made.close);
  return made;
}

const count = (fake: FakeMcp, what: string) => fake.log.filter((line) => line === what).length;

describe('the session of a server', () => {
  it('is missing at first, then kept, and ended at the end', async () => {
    const fake = await start();
    const { call, close } = await connect({ url: fake.url });
    await call({ n: 1 });
    await close();
    const posts = fake.seen.filter(({ http }) => http.method !== 'GET');
    const ids = posts.map(({ http, message }) => [
      message?.method ?? http.method,
      http.headers['mcp-session-id'],
    ]);
    expect(ids).toEqual([
      ['server/discover', undefined],
      ['initialize', undefined],
      ['notifications/initialized', 'session-1'],
      ['tools/call', 'session-1'],
      ['DELETE', 'session-1'],
    ]);
    expect(fake.sessions.size).toBe(0);
  });

  it('is begun anew once when the server has forgotten it, for twenty calls in flight', async () => {
    const fake = await start();
    const { call, client } = await connected(fake.url);
    let listed = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void listed++);
    fake.sessions.clear();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => call({ n })));
    expect(answers.map(({ content }) => content)).toEqual(
      Array.from({ length: 20 }, (_, n) => [{ type: 'text', text: `{"n":${n}}` }]),
    );
    expect(count(fake, 'POST initialize')).toBe(2);
    const anew = fake.seen.filter(({ message }) => message?.method === 'initialize')[1];
    expect(anew?.http.headers['mcp-session-id']).toBeUndefined();
    expect(listed).toBe(1);
    await call();
    expect(fake.seen.at(-1)?.http.headers['mcp-session-id']).toBe('session-2');
  });

  it('that is forgotten as soon as it is begun is one error', async () => {
    const fake = await start({
      instead: (seen) => seen.message?.method === 'tools/call' && refuse(seen, 404),
    });
    const { call } = await connected(fake.url);
    await expect(call()).rejects.toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining('forgets each session'),
    });
    expect(count(fake, 'POST tools/call')).toBe(2);
    expect(count(fake, 'POST initialize')).toBe(2);
  });

  it.each([400, 401, 403, 500])('is not lost by an answer of %i', async (status) => {
    const fake = await start({
      instead: (seen) => seen.message?.method === 'tools/call' && refuse(seen, status),
    });
    const { call } = await connected(fake.url);
    await expect(call()).rejects.toMatchObject({
      code: status === 401 ? 'mcp_sign_in_needed' : 'mcp_server_unavailable',
    });
    expect(count(fake, 'POST tools/call')).toBe(1);
    expect(count(fake, 'POST initialize')).toBe(1);
  });

  it('need not be', async () => {
    const fake = await start({ hasSessions: false });
    const { call } = await connected(fake.url);
    await call();
    expect(fake.seen.every(({ http }) => http.headers['mcp-session-id'] === undefined)).toBe(true);
  });

  it('is begun anew when its stream is refused, without a call', async () => {
    let isOver = false;
    const fake = await start({
      instead(seen, { sessions }) {
        if (seen.http.method !== 'GET' || isOver) return false;
        isOver = true;
        sessions.clear();
        return refuse(seen, 404);
      },
    });
    const { client } = await connected(fake.url);
    await new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    expect(count(fake, 'POST initialize')).toBe(2);
    expect([...fake.sessions]).toEqual(['session-2']);
  });

  it('begun anew in another version ends the connection', async () => {
    let version = '2025-11-25';
    const fake = await start({
      instead(seen) {
        if (seen.message?.method !== 'initialize' || version === '2025-11-25') return false;
        seen.response.writeHead(200, { 'content-type': 'application/json' });
        const result = {
          protocolVersion: version,
          capabilities: {},
          serverInfo: { name: 'x', version: '1' },
        };
        seen.response.end(JSON.stringify({ jsonrpc: '2.0', id: seen.message.id, result }));
        return true;
      },
    });
    const made = await connect({ url: fake.url }, createDeps());
    ends.push(made.close);
    const closed = new Promise<void>((resolve) => {
      Object.assign(made.client, { onclose: resolve });
    });
    fake.sessions.clear();
    version = '2025-03-26';
    await expect(made.call()).rejects.toThrow('closed');
    await closed;
  });

  it('is begun anew without the calls that were called off meanwhile', async () => {
    const began: (() => void)[] = [];
    const fake = await start({
      async instead(seen, { sessions }) {
        if (seen.message?.method !== 'initialize' || sessions.size > 0 || fake.log.length < 3) return false;
        await new Promise<void>((resolve) => began.push(resolve));
        return false;
      },
    });
    const { call, client } = await connected(fake.url);
    fake.sessions.clear();
    const canceling = new AbortController();
    const options = { signal: canceling.signal };
    const off = client
      .callTool({ name: 'echo', arguments: { n: 'off' } }, options)
      .catch((error: Error) => error);
    const kept = call({ n: 'kept' });
    await expect.poll(() => began.length).toBe(1);
    canceling.abort();
    began[0]!();
    await kept;
    expect(await off).toBeInstanceOf(Error);
    const sent = fake.seen.filter(({ http, message }) => {
      return http.headers['mcp-session-id'] === 'session-2' && message?.method === 'tools/call';
    });
    expect(sent.map(({ message }) => message?.params?.['arguments'])).toEqual([{ n: 'kept' }]);
    expect(fake.log).not.toContain('POST notifications/cancelled');
  });

  it('that a server refuses with 400 again and again, even for a ping, ends the connection', async () => {
    let isForgotten = false;
    const fake = await start({
      instead: (seen) => isForgotten && refuse(seen, 400, {}, 'No valid session ID'),
    });
    const { call, client, opened } = await connected(fake.url);
    const closed = new Promise<void>((resolve) => {
      Object.assign(client, { onclose: resolve });
    });
    isForgotten = true;
    await expect(call()).rejects.toThrow('HTTP 400');
    expect(fake.log).not.toContain('POST ping');
    await expect(call()).rejects.toThrow('HTTP 400');
    await closed;
    expect(opened.whyGone()).toContain('HTTP 400');
    expect(count(fake, 'POST initialize')).toBe(1);
  });

  it('stays when only calls are refused with 400', async () => {
    const fake = await start({
      instead: (seen) => seen.message?.method === 'tools/call' && refuse(seen, 400),
    });
    const { call, client } = await connected(fake.url);
    for (let n = 0; n < 4; n++) await expect(call()).rejects.toThrow('HTTP 400');
    await expect.poll(() => count(fake, 'POST ping')).toBe(2);
    expect((await client.listTools()).tools).toHaveLength(1);
    expect(count(fake, 'POST initialize')).toBe(1);
  });
});
