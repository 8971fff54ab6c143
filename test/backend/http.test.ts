import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './helpers/until.ts';
import { openSocket, send } from './helpers/raw-http.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';
import type { Envelope } from '../../src/core/call.ts';
import type { Json } from './helpers/json.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld({
    publicHosts: ['kaiwu.example'],
    allowedOrigins: ['https://app.example'],
    timings: { server: { headersMs: 500, requestMs: 2000 } },
  });
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const auth = () => ({ authorization: `Bearer ${token}` });
const post = (chunks: Uint8Array[], headers: Record<string, string> = {}) =>
  send(world.url, {
    method: 'POST',
    path: '/v1/actions/session.list',
    headers: { ...auth(), ...headers },
    chunks,
  });

describe('every answer', () => {
  it('carries security headers and a request id, also a refusal', async () => {
    for (const path of ['/healthz', '/readyz', '/v1/openapi.json', '/v1/whoami', '/nowhere']) {
      const { headers } = await send(world.url, { path });
      expect({ path, ...headers }).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      expect(headers['x-request-id']).toMatch(/^call_/);
      expect(headers['content-type']).toContain('application/json');
    }
  });

  it('an unknown route is named in a not_found envelope', async () => {
    const { status, json } = await send(world.url, { path: '/v1/nothing/here', method: 'PUT' });
    expect(status).toBe(404);
    expect(json).toMatchObject({ status: 'error', error: { code: 'not_found', retryable: false } });
    expect(json.error.message).toContain('PUT /v1/nothing/here');
  });
});

describe('whose page is calling', () => {
  const statusOf = async (headers: Record<string, string>) =>
    (await send(world.url, { path: '/v1/whoami', headers: { ...auth(), ...headers } })).status;

  it('a host name that is not ours is refused (DNS rebinding)', async () => {
    for (const host of [
      '127.0.0.1',
      `localhost:${world.port}`,
      '[::1]:1',
      'kaiwu.example',
      'KAIWU.example:443',
    ]) {
      expect([host, await statusOf({ host })]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      'kaiwu.example.evil',
      '127.0.0.1.evil',
      'a@localhost',
    ]) {
      const status = await statusOf({ host });
      expect([400, 403]).toContain(status);
    }
    const { json } = await send(world.url, { headers: { host: 'evil.example' } });
    expect(json.error.code).toBe('forbidden');
  });

  it('a foreign origin is refused, our own and allowed ones are not', async () => {
    expect(await statusOf({ origin: world.url })).toBe(200);
    expect(await statusOf({ origin: 'https://app.example' })).toBe(200);
    expect(await statusOf({ host: 'kaiwu.example', origin: 'https://kaiwu.example' })).toBe(200);
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1', 'https://app.example.evil']) {
      expect([origin, await statusOf({ origin })]).toEqual([origin, 403]);
    }
  });

  it('an allowed page may ask first and read the answer', async () => {
    const asked = await send(world.url, {
      method: 'OPTIONS',
      path: '/v1/whoami',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(asked.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(asked.headers['access-control-allow-headers']).toContain('authorization');
    const refused = await send(world.url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect(refused.status).toBe(403);
  });
});

describe('bodies', () => {
  it('text is whole however it is cut: 200 KB of Cyrillic in pieces of 1,000 bytes', async () => {
    const daemon = await world.daemon(token);
    const { sessionId } = await world.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' });
    const text = '— 漢 🧑‍🚀 é ' + 'Щедрость'.repeat(12_500);
    const body = Buffer.from(
      JSON.stringify({
        input: { sessionId, message: text, messageId: 'cyrillic-1' },
        context: { surface: 'cli' },
      }),
    );
    expect(body.length).toBeGreaterThan(200_000);
    const pieces = [];
    for (let at = 0; at < body.length; at += 1000) pieces.push(body.subarray(at, at + 1000));
    const { json } = await send(world.url, {
      method: 'POST',
      path: '/v1/actions/session.message.send',
      headers: auth(),
      chunks: pieces,
    });
    expect(json.status).toBe('ok');
    expect((await world.store.messages.get('cyrillic-1'))?.text).toBe(text);
    const delivered = daemon.requests.find((request) => request.method === 'session.deliver');
    expect(Buffer.from(delivered?.params.text).equals(Buffer.from(text))).toBe(true);
  });

  it('one byte at a time', async () => {
    const body = Buffer.from(
      JSON.stringify({ input: { query: '— 漢 🧑‍🚀 é' }, context: { surface: 'cli' } }),
    );
    const { json } = await post([...body].map((byte) => Uint8Array.of(byte)));
    expect(json.status).toBe('ok');
    const { rows } = (await world.ok(token, 'audit.list', { limit: 5 })) as Json;
    expect(JSON.stringify(rows)).toContain('— 漢 🧑‍🚀 é');
  });

  it('malformed JSON is named with its place, and not repeated', async () => {
    const cases: [string, number][] = [
      ['{"input": {"a": }}', 16],
      ['{"a":1,}', 7],
      ['[1,2', 4],
      ['', 0],
      ['{"a":1} x', 8],
      ['{"a":"x\ny"}', 7],
      ['nul', 0],
      ['{"a":01}', 6],
      ['{\n  "a": "\\q"}', 10],
      ['{"a" 1}', 5],
      ['[1 2]', 3],
      [']', 0],
      ['"abc', 4],
    ];
    for (const [body, position] of cases) {
      const { status, json } = await post([Buffer.from(body)]);
      expect([body, status]).toEqual([body, 400]);
      expect(json.error.code).toBe('invalid_input');
      expect([body, json.error.details.position]).toEqual([body, position]);
    }
    const { json } = await post([Buffer.from('{\n "x": 1,\n "y": oops}')]);
    expect(json.error.message).toContain('line 3, column 7');
    expect(json.error.message).not.toContain('oops');
  });

  it('bytes that are not UTF-8, and a body of another shape, are refused', async () => {
    const bad = await post([Buffer.from('{"input":"'), Uint8Array.of(0xff, 0xfe), Buffer.from('"}')]);
    expect(bad.json.error.message).toContain('not UTF-8');
    for (const body of ['[]', 'null', '{}', '{"context": 3}', '{"context": {"maxWaitSeconds": "9"}}']) {
      const { status, json } = await post([Buffer.from(body)]);
      expect([body, status, json.error.code]).toEqual([body, 400, 'invalid_input']);
    }
  });

  it('8 MiB is the limit, declared or not, and the next call works', async () => {
    const limit = 8 * 1024 * 1024;
    const filler = Buffer.alloc(64 * 1024, 'x');
    const declared = await post([], { 'content-length': String(limit + 1) }).catch((error) => error);
    expect(declared.json?.error.code).toBe('payload_too_large');
    const chunked = await post([Buffer.from('"'), ...Array<Buffer>(129).fill(filler)]);
    expect(chunked.status).toBe(413);
    expect(chunked.json.error).toMatchObject({ code: 'payload_too_large', details: { maxBytes: limit } });
    const fits = await post([
      Buffer.from('{"context":{"surface":"cli"},"input":{"query":"'),
      ...Array<Buffer>(127).fill(filler),
      Buffer.from('"}}'),
    ]);
    expect(fits.json.error.code).toBe('invalid_input');
    expect((await world.call(token, 'session.list')).status).toBe('ok');
  });

  it('a sign-in body may not be large', async () => {
    const answer = await world.post('/v1/auth/device/code', { device_name: 'x'.repeat(20_000) });
    expect(answer.status).toBe(413);
  });
});

describe('slow and strange clients', () => {
  it('a head that never ends is cut off, and others are served meanwhile', async () => {
    const { socket, text, ended } = await openSocket(world.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const drip = setInterval(() => socket.write('a'), 50);
    expect((await world.get('/healthz')).status).toBe(200);
    await ended;
    clearInterval(drip);
    expect(text()).toContain('504');
    expect(text()).toContain('"code":"timeout"');
  });

  it('a body that never ends is cut off', async () => {
    const { socket, ended } = await openSocket(world.port);
    socket.write(
      `POST /v1/actions/session.list HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000\r\n\r\n{`,
    );
    await ended;
    expect((await world.get('/healthz')).status).toBe(200);
  });

  it('garbage gets an envelope and the server lives on', async () => {
    const { socket, text, ended } = await openSocket(world.port);
    socket.write('EHLO there\r\n\r\n');
    await ended;
    expect(text()).toContain('invalid_input');
    expect((await world.get('/healthz')).status).toBe(200);
  });

  it('one that is refused and does not hang up is hung up on', async () => {
    const socket = connect({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write(
      'GET /v1/link HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const broken = once(socket, 'error');
    socket.resume();
    await once(socket, 'end');
    const poke = setInterval(() => socket.write('x'), 100);
    const [error] = await broken;
    clearInterval(poke);
    expect(['EPIPE', 'ECONNRESET']).toContain(error.code);
  });

  it('an upgrade to anything but the link is answered and closed', async () => {
    for (const [path, upgrade] of [
      ['/healthz', 'h2c'],
      ['/v1/other', 'websocket'],
      ['/v1/link', 'h2c'],
    ]) {
      const { socket, text, ended } = await openSocket(world.port);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
      await ended;
      expect(text()).toContain('HTTP/1.1 400');
      expect(text()).toContain('invalid_input');
    }
  });
});

describe('catalog and documents', () => {
  it('the catalog answers 304 until the policy changes', async () => {
    const first = await world.get('/v1/catalog?surface=mcp', { token });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    const catalog = (await first.json()) as Json;
    expect(catalog).toMatchObject({ surface: 'mcp', backendVersion: '1.2.3', policyVersion: 0 });
    expect(catalog.actions.length).toBeGreaterThan(20);
    const again = (tag: string) =>
      world.get('/v1/catalog?surface=mcp', { token, headers: { 'if-none-match': tag } });
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await again(tag);
      expect([tag, answer.status]).toEqual([tag, 304]);
      expect(await answer.text()).toBe('');
      expect(answer.headers.get('etag')).toBe(etag);
    }
    expect(
      (await world.get('/v1/catalog?surface=cli', { token, headers: { 'if-none-match': etag } })).status,
    ).toBe(200);
    const scoped = await world.makeToken({ scope: { actions: ['session.*'] } });
    const other = await world.get('/v1/catalog?surface=mcp', {
      token: scoped,
      headers: { 'if-none-match': etag },
    });
    expect(other.status).toBe(200);

    await world.ok(token, 'policy.set', { rules: { 'session.stop': { mcp: { enabled: false } } } });
    const changed = await again(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('a key that is not known is named with the one that was meant, and nothing runs', async () => {
    const context = { surface: 'cli' };
    const said = async (body: Json) => {
      const answer = await world.post('/v1/actions/session.list', body, { token });
      expect(answer.status).toBe(400);
      return errorOf((await answer.json()) as Envelope).message;
    };
    const all = 'The request body is not valid: ';
    expect(await said({ inptu: {}, context })).toBe(`${all}inptu: not known here; use input.`);
    expect(await said({ confirmaton: '1234', context })).toContain('use confirmation');
    expect(await said({ context: { ...context, sesionId: 's' } })).toBe(
      `${all}context.sesionId: not known here; use sessionId.`,
    );
    expect(await said({ zzz: 1, context })).toContain('zzz: not known here; known are input, confirmation');
    expect(await said({ input: {} })).toBe(`${all}context: needed, for example {"surface":"cli"}.`);
  });

  it('a surface that does not exist is named', async () => {
    for (const path of ['/v1/catalog', '/v1/catalog?surface=web']) {
      const answer = await world.get(path, { token });
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as Json).error.message).toContain('app, cli, mcp, agent, voice');
    }
  });

  it('the OpenAPI document has every action, its schemas and errors', async () => {
    const document = (await (await world.get('/v1/openapi.json')).json()) as Json;
    expect(document.openapi).toBe('3.1.0');
    const catalog = (await (await world.get('/v1/catalog?surface=cli', { token })).json()) as Json;
    for (const action of catalog.actions) {
      const operation = document.paths[`/v1/actions/${action.id}`].post;
      expect(operation.operationId).toBe(action.toolName);
      const body = operation.requestBody.content['application/json'].schema;
      expect(body.properties.input).toEqual(action.inputSchema);
      expect(operation.responses[200].content['application/json'].schema.properties.output).toEqual(
        action.outputSchema,
      );
    }
    const spawn = document.paths['/v1/actions/session.spawn_new'].post;
    expect(spawn.responses[502].description).toContain('agent_failed');
    const refs = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, name] of refs) expect(document.components.schemas).toHaveProperty(name as string);
    for (const path of ['/v1/catalog', '/v1/events', '/v1/auth/bootstrap', '/v1/whoami']) {
      expect(document.paths).toHaveProperty([path]);
    }
  });
});

describe('calls', () => {
  it('statuses follow the table, and the tool name is as good as the id', async () => {
    const status = async (actionId: string, input: unknown) =>
      (await world.post(`/v1/actions/${actionId}`, { input, context: { surface: 'cli' } }, { token })).status;
    expect(await status('session.list', {})).toBe(200);
    expect(await status('session_list', {})).toBe(200);
    expect(await status('session.lisst', {})).toBe(404);
    expect(await status('session.status.get', {})).toBe(400);
    expect(await status('session.status.get', { sessionId: 'sess_none' })).toBe(404);
    await world.ok(token, 'policy.set', { rules: { 'session.title.set': { cli: { approval: true } } } });
    await world.daemon(token);
    const { sessionId } = await world.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' });
    expect(await status('session.title.set', { sessionId, title: 'x' })).toBe(202);
  });

  it('the same idempotency key runs once; a key that is too long is refused', async () => {
    await world.daemon(token);
    const spawn = (idempotencyKey: string) =>
      world.call(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' }, {}, { idempotencyKey });
    const [one, two] = [await spawn('key-1'), await spawn('key-1')];
    expect(two).toEqual(one);
    expect((await world.ok(token, 'session.list')).sessions).toHaveLength(1);
    expect(errorOf(await spawn('k'.repeat(201))).code).toBe('invalid_input');
  });

  it('closing the request gives the wait up', async () => {
    await world.daemon(token);
    const { sessionId } = await world.ok(token, 'session.spawn_new', {
      agentId: 'demo',
      directory: '/tmp',
    });
    const control = new AbortController();
    const running = until(
      world.store.feed,
      (entry) => entry.type === 'transcript.appended' && entry.toSeq >= 2,
    );
    const stopped = world
      .call(
        token,
        'session.message.send',
        { sessionId, message: 'hold', wait: true },
        {},
        { signal: control.signal },
      )
      .catch((error: Error) => error.name);
    await running;
    control.abort();
    expect(await stopped).toBe('AbortError');
    const codes = async () =>
      (await world.store.audit.list({ outcome: 'error' }, { limit: 5 })).items.map((row) => row.code);
    await expect.poll(codes, { timeout: 20_000 }).toEqual(['canceled']);
  });
});
