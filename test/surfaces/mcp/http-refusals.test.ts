import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startHttpWorld } from './helpers/http-world.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const STATELESS = { 'mcp-protocol-version': '2026-07-28' };

describe('who may come in', () => {
  test.each([
    ['no bearer', undefined],
    ['an empty one', 'Bearer '],
    ['another one', 'Bearer abc'],
    ['another scheme', 'Basic abc'],
  ])('%s: 401, and nothing is told', async (_, authorization) => {
    const world = await startHttpWorld();
    for (const path of [LIST, '{', '']) {
      const answer = await world.raw(path, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32000, message: 'Unauthorized' },
      });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    expect(world.backend.requests).toEqual([]);
  });

  test('a name that is not this machine, and a page of a browser: 403', async () => {
    const world = await startHttpWorld();
    const { port } = new URL(world.http.url);
    expect((await world.raw(LIST, { host: `evil.example:${port}` })).status).toBe(403);
    expect((await world.raw(LIST, { host: '127.0.0.1' })).status).toBe(403);
    expect((await world.raw(LIST, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await world.raw(LIST, { origin: 'null' })).status).toBe(403);
    expect((await world.raw(LIST, { origin: `http://localhost:${Number(port) + 1}` })).status).toBe(403);
    expect(
      (await world.raw(LIST, { host: `localhost:${port}`, origin: world.http.url.replace('/mcp', '') }))
        .status,
    ).toBe(200);
  });

  test('one bearer opens one door', async () => {
    const world = await startHttpWorld();
    const other = world.open();
    world.shut();
    expect((await world.raw(LIST)).status).toBe(401);
    expect((await world.raw(LIST, { authorization: `bearer ${other}` })).status).toBe(200);
  });
});

describe('what is refused', () => {
  test('a message that is too large, whether it says so or not', async () => {
    const world = await startHttpWorld({ limits: { maxBodyBytes: 1000 } });
    const large = { ...LIST, params: { text: 'x'.repeat(2000) } };
    expect((await world.raw(large)).status).toBe(413);
    const chunked = await world.raw(large, { 'transfer-encoding': 'chunked' });
    expect(chunked).toMatchObject({ status: 413, json: { id: null, error: { code: -32600 } } });
    expect((await world.raw(LIST)).status).toBe(200);
  });

  test('more bytes than one door may hold at once, until those before are through', async () => {
    const world = await startHttpWorld({ limits: { maxHeldBytes: 5000 } });
    const { port } = new URL(world.http.url);
    const head = [
      'POST /mcp HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      `authorization: Bearer ${world.bearer}`,
      'content-type: application/json',
      'content-length: 4000',
    ].join('\r\n');
    const slow = connect(Number(port), '127.0.0.1');
    slow.write(`${head}\r\n\r\n{${' '.repeat(3900)}`);
    const large = { ...LIST, params: { text: 'x'.repeat(2000) } };
    await expect.poll(async () => (await world.raw(large)).status).toBe(429);
    // Another door has bytes of its own.
    const other = { authorization: `Bearer ${world.open()}` };
    expect((await world.raw(large, other)).status).toBe(200);
    slow.destroy();
    await expect.poll(async () => (await world.raw(large)).status).toBe(200);
    for (let i = 0; i < 10; i += 1) expect((await world.raw(large)).status).toBe(200);
  });

  test.each([
    ['not JSON', '{', {}, 400, -32700],
    ['no message', '7', {}, 400, -32600],
    ['a batch', [LIST, LIST], {}, 400, -32600],
    ['another content type', LIST, { 'content-type': 'text/plain' }, 415, -32000],
    ['an unknown method', { ...LIST, method: 'nope' }, {}, 200, -32601],
    ['a cursor', { ...LIST, params: { cursor: 'x' } }, {}, 200, -32602],
    ['a call of nothing', { ...LIST, method: 'tools/call' }, {}, 200, -32602],
    [
      'arguments that are a list',
      { ...LIST, method: 'tools/call', params: { name: 'x', arguments: [] } },
      {},
      200,
      -32602,
    ],
    ['an unknown revision', LIST, { 'mcp-protocol-version': '1999-01-01' }, 400, -32000],
    ['a stateless header alone', LIST, STATELESS, 400, -32602],
    ['a stateless body alone', { ...LIST, params: { _meta: META } }, {}, 400, -32020],
    [
      'a header that differs',
      { ...LIST, params: { _meta: META } },
      { ...STATELESS, 'mcp-method': 'tools/call' },
      400,
      -32020,
    ],
    [
      'an unknown stateless method',
      { ...LIST, method: 'ping', params: { _meta: META } },
      { ...STATELESS, 'mcp-method': 'ping' },
      404,
      -32601,
    ],
    [
      'a revision of tomorrow',
      {
        ...LIST,
        method: 'server/discover',
        params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } },
      },
      {},
      400,
      -32022,
    ],
  ])('%s', async (_, body, headers, status, code) => {
    const world = await startHttpWorld();
    const answer = await world.raw(body, headers);
    expect(answer).toMatchObject({ status, json: { jsonrpc: '2.0', error: { code } } });
    expect(world.errors).toEqual([]);
  });

  test('other ways and other paths', async () => {
    const world = await startHttpWorld();
    expect((await world.raw('', {}, 'PUT')).status).toBe(405);
    expect((await world.raw('', { accept: 'text/html' }, 'GET')).status).toBe(405);
    expect((await world.raw('', {}, 'DELETE')).status).toBe(200);
  });

  test('more at once than a door answers, until some are answered', async () => {
    const world = await startHttpWorld({ limits: { maxOpen: 2, maxStreams: 0 } });
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    world.backend.answer = async () => {
      await gate;
      return { status: 'ok', output: {} };
    };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'session_list' } };
    const waiting = [world.raw(call), world.raw(call)];
    await expect.poll(() => world.backend.calls.length).toBe(2);
    expect((await world.raw(LIST)).status).toBe(429);
    const stranger = await world.raw(LIST, { authorization: `Bearer ${world.open()}` });
    expect(stranger.status).toBe(200);
    open();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await world.raw(LIST)).status).toBe(200);
    expect((await world.raw('', {}, 'GET')).status).toBe(429);
  });

  test('a host that goes away in the middle of a message is no error', async () => {
    const world = await startHttpWorld();
    const { port } = new URL(world.http.url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${world.bearer}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc"',
    );
    socket.destroy();
    await once(socket, 'close');
    expect((await world.raw(LIST)).status).toBe(200);
    expect(world.errors).toEqual([]);
  });
});
