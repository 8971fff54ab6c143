import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { managedNetworkOf } from '../../src/app/managed-network.ts';
import { isNearHost, isPublicAddress } from '../../src/managed/http/address.ts';
import type { ManagedNetwork } from '../../src/managed/http/network.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { connect, createDeps, type FakeOptions, refuse, startFakeMcp } from './http-fakes.ts';

const SECRET = 'geheim-0123456789';
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(options: FakeOptions = {}) {
  const fake = await startFakeMcp(options);
  ends.push(fake.close);
  return fake;
}

async function connected(...args: Parameters<typeof connect>) {
  const made = await connect(...args);
  ends.push(made.close);
  return made;
}

/** What came of an attempt that fails; the secret is in no part of it. */
async function errorOf(attempt: Promise<unknown>): Promise<Error & { code?: string; hint?: string }> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  if (error === undefined) throw new Error('it did not fail');
  const { message, hint, stack } = error as Error & { hint?: string };
  expect([message, hint, stack].join('\n')).not.toContain(SECRET);
  return error;
}

async function listen(listener: ReturnType<typeof getRequestListener>): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('what a server is sent', () => {
  it('is its token as bearer and its headers, with every request', async () => {
    const fake = await start();
    const { call } = await connected({ url: fake.url, token: SECRET, headers: { 'X-Api-Key': 'k' } });
    await call();
    expect(fake.seen.length).toBeGreaterThan(3);
    for (const { http } of fake.seen) {
      expect(http.headers).toMatchObject({
        authorization: `Bearer ${SECRET}`,
        'x-api-key': 'k',
        'user-agent': 'kaiwu/1.2.3',
      });
      expect(http.headers).not.toHaveProperty('kaiwu-exchange');
    }
  });

  it.each(['', '  ', undefined])('is no authorization for a token of %j', async (token) => {
    const fake = await start();
    await connected({ url: fake.url, ...(token === undefined ? {} : { token }) });
    expect(fake.seen.every(({ http }) => http.headers.authorization === undefined)).toBe(true);
  });

  it.each([
    [{ token: `${SECRET}\nx` }, '`token`'],
    [{ headers: { 'X-Key': `${SECRET}\r\nHost: evil` } }, '"X-Key"'],
    [{ headers: { 'X Key': SECRET } }, '"X Key"'],
    [{ headers: { 'Content-Length': SECRET } }, '"Content-Length"'],
  ])('is never what no header can carry: %#', async (config, named) => {
    const fake = await start();
    const error = await errorOf(connect({ url: fake.url, ...config }));
    expect(error).toMatchObject({ code: 'mcp_server_unavailable', message: expect.stringContaining(named) });
    expect(fake.log).toEqual([]);
  });

  it('goes on to the same origin only when a server redirects', async () => {
    const other = await start();
    const fake = await start({
      instead: (seen) =>
        seen.http.url === '/mcp' && refuse(seen, 307, { location: `${other.url}?key=${SECRET}` }),
    });
    const error = await errorOf(connect({ url: fake.url, token: SECRET }));
    expect(error.message).toContain(`redirects to ${new URL(other.url).origin},`);
    expect(other.log).toEqual([]);

    const moved = await start({
      instead: (seen) => seen.http.url === '/mcp' && refuse(seen, 308, { location: '/new' }),
    });
    const { call } = await connected({ url: moved.url, token: SECRET });
    await call();
    expect(moved.seen.at(-1)?.http).toMatchObject({
      url: '/new',
      headers: { authorization: `Bearer ${SECRET}` },
    });
  });

  it('refused or not, no message shows more of its address than scheme and host', async () => {
    const fake = await start({ instead: (seen) => refuse(seen, 500) });
    const error = await errorOf(connect({ url: `${fake.url}/${SECRET}?key=${SECRET}` }));
    expect(error.message).toContain(`at ${new URL(fake.url).origin} `);
    const withUser = fake.url.replace('http://', `http://user:${SECRET}@`);
    expect((await errorOf(connect({ url: withUser }))).message).toContain('user name or password');
    expect((await errorOf(connect({ url: `ftp://${SECRET}` }))).message).toContain('http or https');
  });
});

describe('plain http', () => {
  it('takes a secret to this machine and private networks alone', async () => {
    const far = await errorOf(connect({ url: 'http://203.0.113.5/mcp', token: SECRET }));
    expect(far).toMatchObject({
      message: expect.stringContaining('plain http'),
      hint: expect.stringContaining('https'),
    });
    const headers = await errorOf(connect({ url: 'http://203.0.113.5/mcp', headers: { 'X-Key': SECRET } }));
    expect(headers.message).toContain('plain http');
    const near = [
      '0.0.0.0',
      '[::]',
      'localhost.',
      '[::ffff:7f00:1]',
      '172.16.3.1',
      '10.0.0.1',
      '192.168.1.9',
      '100.64.0.1',
      '127.0.0.1',
      '[::1]',
      '[fd00::1]',
      'localhost',
    ];
    expect(near.filter((host) => !isNearHost(host))).toEqual([]);
    const public_ = ['203.0.113.5', '172.32.0.1', '8.8.8.8', '[2001:db8::1]', '[::ffff:8.8.8.8]'];
    expect(public_.filter((host) => !isPublicAddress(host))).toEqual([]);
  });

  it('is judged by the address that a name leads to', async () => {
    const fake = await start();
    const byName = (address: string): ManagedNetwork => ({
      ...managedNetworkOf({}),
      lookup: (_host, _options, answered) => answered(null, [{ address, family: 4 }]),
    });
    const url = fake.url.replace('127.0.0.1', 'home.example');
    const error = await errorOf(
      connect({ url, token: SECRET }, createDeps({ network: byName('203.0.113.5') })),
    );
    expect(error.message).toContain('plain http');
    const { call } = await connected({ url, token: SECRET }, createDeps({ network: byName('127.0.0.1') }));
    await call();
  });
});

describe('the way to a server', () => {
  it.each(['127.0.0.1', '::1'])('to localhost finds what listens on %s alone', async (host) => {
    const fake = await start({ host });
    const { call } = await connected({ url: fake.url.replace('127.0.0.1', 'localhost') });
    expect(await call({ n: 1 })).toMatchObject({ content: [{ text: '{"n":1}' }] });
  });

  it('needs the CA of a private certificate, and says so', async () => {
    const tls = makeCertificate();
    const fake = await start({ tls });
    const error = await errorOf(connect({ url: fake.url }));
    expect(error).toMatchObject({
      code: 'mcp_server_unavailable',
      message: expect.stringContaining('unknown CA'),
      hint: expect.stringContaining('`caFile`'),
    });
    const folder = mkdtempSync(join(tmpdir(), 'kaiwu-ca-'));
    ends.push(() => rmSync(folder, { recursive: true }));
    const caFile = join(folder, 'ca.pem');
    expect((await errorOf(connect({ url: fake.url, caFile }))).message).toContain(caFile);
    writeFileSync(caFile, 'nothing');
    expect((await errorOf(connect({ url: fake.url, caFile }))).message).toContain('no PEM');
    writeFileSync(caFile, tls.cert);
    const { call } = await connected({ url: fake.url, caFile });
    await call();
  });

  it('goes through the proxy of the environment, but for what is excepted', async () => {
    const asked: string[] = [];
    const proxy = createTcpServer((socket: Socket) => {
      socket.once('data', (data) => {
        asked.push(data.toString('latin1').split('\r\n', 1)[0]!);
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      });
      socket.on('error', () => undefined);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    ends.push(() => void proxy.close());
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const through = (noProxy: string) =>
      createDeps({ network: managedNetworkOf({ HTTPS_PROXY: address, NO_PROXY: noProxy }) });
    await errorOf(connect({ url: 'https://192.0.2.1/mcp', token: SECRET }, through('')));
    expect(asked).toEqual(['CONNECT 192.0.2.1:443 HTTP/1.1']);
    const fake = await start();
    await (await connected({ url: fake.url }, through(''))).call();
    const excepted = { url: 'https://192.0.2.1/mcp', connectTimeoutSeconds: 1 };
    await errorOf(connect(excepted, through('192.0.2.1')));
    expect(asked).toHaveLength(1);
  });

  it('is given up on in the time that the server is given', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ends.push(() => void silent.close());
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    const error = await errorOf(connect({ url, connectTimeoutSeconds: 1 }));
    expect(error.message).toContain('did not answer in time');
  });

  it('is given up on as well when a proxy does not answer', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ends.push(() => void silent.close());
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const deps = createDeps({ network: managedNetworkOf({ HTTPS_PROXY: address }) });
    const error = await errorOf(connect({ url: 'https://192.0.2.1/mcp', connectTimeoutSeconds: 1 }, deps));
    expect(error.message).toContain('did not answer in time');
  });

  it.each([
    ['nothing listens', 'http://127.0.0.1:1/mcp', 'nothing listens there'],
    ['a name that is none', 'http://none.invalid/mcp', 'cannot be resolved'],
  ])('that leads nowhere is told: %s', async (_, url, said) => {
    expect((await errorOf(connect({ url }))).message).toContain(said);
  });
});

describe('servers of other generations', () => {
  it('of 2026-07-28 have no sessions, and work', async () => {
    const handler = createMcpHandler(() => {
      const server = new Server({ name: 'new', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      }));
      server.setRequestHandler('tools/call', ({ params }) => ({
        content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
      }));
      return server;
    });
    const url = await listen(getRequestListener((request) => handler.fetch(request)));
    const { call, client, opened } = await connected({ url: `${url}/mcp` });
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(opened.kind).toBe('http');
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => call({ n })));
    expect(answers.map(({ content }) => content[0])).toEqual(
      Array.from({ length: 12 }, (_, n) => ({ type: 'text', text: `{"n":${n}}` })),
    );
  });
});
