import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createAuthClient } from '../../src/client/auth-client.ts';
import { createBackendClient } from '../../src/client/backend-client.ts';
import { toBaseUrl } from '../../src/client/base-url.ts';
import type { HttpOptions } from '../../src/client/http.ts';
import { toProxy } from '../../src/client/proxy.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import {
  type Answer,
  answersWith,
  type FakeBackend,
  sendJson,
  startFakeBackend,
} from '../helpers/fake-backend.ts';

const TOKEN = 'kw_canary_7f00ba4c0de';
const open: FakeBackend[] = [];
afterEach(async () => {
  for (const backend of open.splice(0)) await backend.close();
});

async function serve(answer: Answer, tls?: { key: string; cert: string }): Promise<FakeBackend> {
  const backend = await startFakeBackend(answer, tls);
  open.push(backend);
  return backend;
}

const clientOf = (url: string, more: Partial<HttpOptions> = {}) =>
  createBackendClient({
    url,
    token: TOKEN,
    version: '1.2.3',
    random: Math.random,
    context: { machineId: 'mach_1' },
    ...more,
  });

const call = { actionId: 'session.list', input: { limit: 1 }, context: { surface: 'cli' as const } };

async function errorOf(url: string, more: Partial<HttpOptions> = {}) {
  const envelope = await clientOf(url, more).execute(call);
  if (envelope.status !== 'error') throw new Error('it did not fail');
  expect(inspect(envelope, { depth: 9 })).not.toContain(TOKEN.slice(0, 9));
  return envelope.error;
}

describe('a call', () => {
  it('carries token, context and idempotency key, and nothing secret in the address', async () => {
    const backend = await serve(answersWith({ status: 'ok', output: { a: '— 漢 🧑‍🚀' } }));
    const envelope = await clientOf(backend.url).execute({ ...call, idempotencyKey: 'k' });
    expect(envelope).toEqual({ status: 'ok', output: { a: '— 漢 🧑‍🚀' } });
    const [request] = backend.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/v1/actions/session.list',
      body: { input: { limit: 1 }, context: { machineId: 'mach_1', surface: 'cli' } },
      headers: { authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'k', 'user-agent': 'kaiwu/1.2.3' },
    });
  });

  it('keeps its connection, a path prefix, and characters that arrive byte by byte', async () => {
    const ports = new Set<number | undefined>();
    const text = '— 漢 🧑‍🚀 é(NFD)';
    const backend = await serve(async (request, response, raw) => {
      ports.add(raw.socket.remotePort);
      expect(request.url).toBe('/kaiwu/api/v1/actions/session.list');
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const byte of Buffer.from(JSON.stringify({ status: 'ok', output: { text } }))) {
        response.write(Buffer.from([byte]));
        await setImmediate();
      }
      response.end();
    });
    const client = clientOf(`${backend.url}/kaiwu/api/`);
    for (let i = 0; i < 3; i++)
      expect(await client.execute(call)).toEqual({ status: 'ok', output: { text } });
    expect(ports.size).toBe(1);
  });

  it.each([
    [202, { status: 'approval_required', approval: { kind: 'approval_request_created' } }],
    [404, { status: 'error', error: { code: 'session_not_found', message: 'm', retryable: false } }],
    [401, { status: 'error', error: { code: 'not_authenticated', message: 'm', retryable: false } }],
  ])('HTTP %i passes its envelope on', async (status, envelope) => {
    const backend = await serve(answersWith(envelope, status));
    expect(await clientOf(backend.url).execute(call)).toEqual(envelope);
  });

  it('that is aborted closes the request', async () => {
    const abort = new AbortController();
    let closed: Promise<unknown> | undefined;
    const backend = await serve((_, response) => {
      closed = once(response, 'close');
      abort.abort();
    });
    const envelope = await clientOf(backend.url).execute(call, abort.signal);
    expect(envelope).toMatchObject({ status: 'error', error: { code: 'canceled' } });
    await closed;
  });
});

describe('a backend that cannot be used is named, with what to do', () => {
  it('nothing listens', async () => {
    const backend = await serve(answersWith({}));
    await backend.close();
    const error = await errorOf(backend.url);
    expect(error).toMatchObject({ code: 'backend_unreachable', retryable: true });
    expect(error.message).toContain(backend.url);
    expect(error.hint).toMatch(/kaiwu up.*kaiwu server list/);
  });

  it('a web page answers', async () => {
    const backend = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    );
    expect((await errorOf(backend.url)).message).toMatch(/answers with a web page \(HTTP 200\)/);
    await expect(clientOf(backend.url).catalog('mcp')).rejects.toMatchObject({ code: 'backend_unreachable' });
  });

  it('JSON of something else, or half of ours', async () => {
    const other = await serve((_, response) => sendJson(response, 200, { hello: 'world' }));
    expect((await errorOf(other.url)).message).toMatch(/JSON of another kind/);
    const half = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"st'),
    );
    expect((await errorOf(half.url)).code).toBe('backend_unreachable');
    const cut = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{');
      response.destroy();
    });
    expect((await errorOf(cut.url)).code).toBe('backend_unreachable');
  });

  it('a redirect is followed nowhere: no other host ever sees the token', async () => {
    const other = await serve(answersWith({ status: 'ok', output: {} }));
    const backend = await serve((_, response) =>
      response.writeHead(307, { location: `${other.url}/x` }).end(),
    );
    const error = await errorOf(backend.url);
    expect(error.message).toContain(`redirects to ${other.url}`);
    expect(other.requests).toEqual([]);
  });

  it('localhost works whichever of its two addresses the backend has', async () => {
    for (const host of ['127.0.0.1', '::1']) {
      const server = createServer((_, response) =>
        sendJson(response, 200, { status: 'ok', output: { host } }),
      );
      const bound = await new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false));
        server.listen(0, host, () => resolve(true));
      });
      // A machine without IPv6.
      if (!bound) continue;
      const { port } = server.address() as AddressInfo;
      expect(await clientOf(`http://localhost:${port}`).execute(call)).toEqual({
        status: 'ok',
        output: { host },
      });
      server.closeAllConnections();
      server.close();
    }
  });

  it.each([
    ['http://example.com', /plain http to another machine/],
    ['http://192.168.1.4:80', /plain http/],
    ['ftp://example.com', /not an http or https address/],
    ['example.com', /not an http or https address/],
    ['https://u:hunter2@example.com', /carries a user name or password/],
    ['https://example.com/?token=1', /query/],
  ])('%s is refused', (url, why) => {
    expect(() => clientOf(url)).toThrow(why);
    expect(() => toBaseUrl(url)).not.toThrow(/hunter2/);
  });

  it('loopback may be plain, by each of its names', () => {
    for (const host of ['localhost:1', '127.0.0.1:1', '127.8.8.8:1', '[::1]:1']) {
      expect(toBaseUrl(`http://${host}/`)).toBe(`http://${host}`);
    }
  });
});

describe('TLS and proxies', () => {
  const tls = makeCertificate();

  it('an unknown CA is called that, with the setting that helps; with it, calls work', async () => {
    const backend = await serve(answersWith({ status: 'ok', output: {} }), tls);
    const error = await errorOf(backend.url);
    expect(error.message).toContain('unknown CA');
    expect(error.hint).toMatch(/caFile.*NODE_EXTRA_CA_CERTS/);
    expect(await clientOf(backend.url, { ca: tls.cert }).execute(call)).toEqual({ status: 'ok', output: {} });
  });

  it('a certificate for another name is no unknown CA', async () => {
    const backend = await serve(answersWith({}), tls);
    const error = await errorOf(backend.url.replace('127.0.0.1', 'localhost'), { ca: tls.cert });
    expect(error.message).toContain('its certificate is for another name');
  });

  it('goes through a proxy that is set, with its password; loopback and NO_PROXY do not', () => {
    const proxy = { httpsProxy: 'http://user:pw@proxy.example:3128' };
    const through = (url: string, noProxy?: string) => toProxy(new URL(url), { ...proxy, noProxy })?.host;
    expect(through('https://a.example')).toBe('proxy.example:3128');
    for (const url of ['https://localhost:1', 'https://127.0.0.1', 'https://[::1]:2', 'http://127.0.0.1:3']) {
      expect(through(url)).toBeUndefined();
    }
    const excepted: [string, string][] = [
      ['https://a.example', 'a.example'],
      ['https://b.a.example', 'x, .a.example'],
      ['https://b.a.example', '*.a.example'],
      ['https://a.example:8443', 'a.example:8443'],
      ['https://a.example', '*'],
      ['https://A.EXAMPLE', 'a.example'],
    ];
    for (const [url, noProxy] of excepted)
      expect([url, noProxy, through(url, noProxy)]).toEqual([url, noProxy, undefined]);
    expect(through('https://nota.example', 'a.example')).toBe('proxy.example:3128');
    expect(through('https://a.example', 'a.example:8443')).toBe('proxy.example:3128');
    expect(toProxy(new URL('https://a.example'), { httpsProxy: 'proxy:8080' })?.href).toBe(
      'http://proxy:8080/',
    );
  });

  it('a proxy address that is none is told, and the connection goes without it', () => {
    for (const httpsProxy of ['socks5://u:hunter2@x:1', 'http://x:99999', 'http:/x:1', 'x y']) {
      let told = 0;
      const settings = { httpsProxy, noProxy: 'b.example', onUnusable: () => told++ };
      const through = (url: string) => toProxy(new URL(url), settings);
      expect([through('https://b.example'), through('http://127.0.0.1'), told]).toEqual([
        undefined,
        undefined,
        0,
      ]);
      expect([httpsProxy, through('https://a.example'), told]).toEqual([httpsProxy, undefined, 1]);
    }
  });

  it('tunnels TLS through the proxy', async () => {
    const backend = await serve(answersWith({ status: 'ok', output: {} }), tls);
    const tunnels: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      tunnels.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const out = connect(backend.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        out.pipe(socket).pipe(out);
      });
      out.on('error', () => socket.destroy());
      socket.on('error', () => out.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const settings = { proxy: { httpsProxy: `http://u:p@127.0.0.1:${port}` }, ca: tls.cert };
    // The name is one that only the proxy can reach; its certificate is for another, which shows that TLS is end to end.
    const error = await errorOf('https://kaiwu.invalid', settings);
    expect(tunnels).toEqual([`kaiwu.invalid:443 Basic ${Buffer.from('u:p').toString('base64')}`]);
    expect(error.message).toContain('its certificate is for another name');
    proxy.closeAllConnections();
    proxy.close();
  });
});

describe('the catalog', () => {
  it('is asked for with its ETag', async () => {
    const backend = await serve((request, response) => {
      if (request.headers['if-none-match'] === '"v1"') return response.writeHead(304).end();
      return sendJson(response, 200, { surface: 'mcp', actions: [] }, { etag: '"v1"' });
    });
    const client = clientOf(backend.url);
    const first = await client.catalog('mcp');
    expect(first).toMatchObject({ unchanged: false, etag: '"v1"', catalog: { surface: 'mcp' } });
    expect(await client.catalog('mcp', '"v1"')).toEqual({ unchanged: true });
    expect(backend.requests.map(({ url }) => url)).toEqual([
      '/v1/catalog?surface=mcp',
      '/v1/catalog?surface=mcp',
    ]);
  });

  it('fails with the backend’s own code', async () => {
    const error = { code: 'not_authenticated', message: 'no', retryable: false };
    const backend = await serve((_, response) => sendJson(response, 401, { status: 'error', error }));
    await expect(clientOf(backend.url).catalog('mcp')).rejects.toMatchObject({ code: 'not_authenticated' });
  });
});

describe('signing in', () => {
  it.each([
    ['authorization_pending', 'pending'],
    ['slow_down', 'slow_down'],
    ['expired_token', 'expired'],
    ['access_denied', 'denied'],
  ])('a poll answered %s is %s', async (error, state) => {
    const backend = await serve((_, response) => sendJson(response, 400, { error }));
    const auth = createAuthClient({ url: backend.url, version: '1' });
    expect(await auth.pollCode('device-code')).toEqual({ state });
    expect(backend.requests[0]!.headers.authorization).toBeUndefined();
    expect(backend.requests[0]!.url).not.toContain('device-code');
  });

  it('an answer without what was asked for is not taken for a sign-in', async () => {
    const backend = await serve((_, response) => sendJson(response, 200, {}));
    const auth = createAuthClient({ url: backend.url, version: '1' });
    const attempts = [
      () => auth.bootstrap('s', 'd'),
      () => auth.pollCode('c'),
      () => auth.requestCode('d'),
      () => auth.whoami(),
    ];
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({ code: 'backend_unreachable' });
    }
  });
});
