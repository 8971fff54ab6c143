import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BackendProcess, startBackend } from './helpers/backend-process.ts';
import { createFakeDaemon, type FakeDaemon } from './helpers/fake-daemon.ts';
import { openSocket, send } from './helpers/raw-http.ts';
import { openEvents } from './helpers/sse.ts';
import { until } from './helpers/until.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';
import type { Json } from './helpers/json.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});
async function open(more: Parameters<typeof openWorld>[0] = {}): Promise<World> {
  const world = await openWorld(more);
  worlds.push(world);
  return world;
}

describe('listening', () => {
  it('a port that is taken is named', async () => {
    const { port } = await open();
    await expect(openWorld({}, { port })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`port ${port}`),
    });
    const other = await openWorld({}, { port }, { port: 0 });
    worlds.push(other);
    expect((await other.get('/healthz')).status).toBe(200);
  });

  it('an address that others reach needs to be asked for by name', async () => {
    await expect(openWorld({}, { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('behind a proxy it answers as its public name too', async () => {
    const options = { allowPlainRemote: true, publicUrl: 'https://kaiwu.example' };
    const world = await openWorld(options, { host: '0.0.0.0' });
    worlds.push(world);
    expect(world.url).toBe(`http://127.0.0.1:${world.port}`);
    const { token } = await world.signIn();
    const code = await world.post('/v1/auth/device/code', { device_name: 'x' });
    expect(await code.json()).toMatchObject({ verification_uri: 'https://kaiwu.example/devices' });
    const { servers } = await world.ok(token, 'servers.list');
    expect(servers).toMatchObject([{ url: 'https://kaiwu.example' }]);
    const { json } = await send(world.url, {
      path: '/v1/whoami',
      headers: { host: 'kaiwu.example', authorization: `Bearer ${token}` },
    });
    expect(json).toMatchObject({ kind: 'device' });
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
  it.skipIf(!hasIpv6)('speaks IPv6', async () => {
    const world = await openWorld({}, { host: '::1' });
    worlds.push(world);
    expect(world.url).toBe(`http://[::1]:${world.port}`);
    expect((await world.get('/healthz')).status).toBe(200);
  });
});

describe('a graceful end', () => {
  it('lets running calls finish and refuses new ones meanwhile', async () => {
    const world = await open();
    const { token } = await world.signIn();
    const daemon = await world.daemon(token);
    const { sessionId } = await world.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' });
    const running = until(
      world.store.feed,
      (entry) => entry.type === 'transcript.appended' && entry.toSeq > 2,
    );
    const call = world.ok(token, 'session.message.send', { sessionId, message: 'hold', wait: true });
    await running;
    const closed = world.backend.close({ drainMs: 30_000 });

    const refused = await world.post('/v1/actions/session.list', { context: { surface: 'cli' } }, { token });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(errorOf((await refused.json()) as never)).toMatchObject({
      code: 'backend_unreachable',
      retryable: true,
    });
    expect((await world.get('/readyz')).status).toBe(503);
    expect((await world.get('/healthz')).status).toBe(200);

    const messageId = daemon.sessions.get(sessionId)?.messages[0]?.messageId as string;
    await daemon.record(sessionId, { type: 'turn_ended', messageId, outcome: 'completed' });
    expect(await call).toMatchObject({ status: 'completed', reply: 'echo hold' });
    await closed;
    await expect(world.get('/healthz')).rejects.toThrow('fetch failed');
    await world.backend.close();
  });

  it('cuts off what does not end in time, as a thing to be tried again', async () => {
    const world = await open();
    const { token } = await world.signIn();
    await world.daemon(token);
    const { sessionId } = await world.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' });
    const stream = await openEvents(world.url, token);
    await stream.count(1);
    const running = until(world.store.feed, (entry) => entry.type === 'message.changed');
    const call = world.call(token, 'session.message.send', { sessionId, message: 'hold', wait: true });
    await running;
    await world.backend.close({ drainMs: 50 });
    expect(errorOf(await call)).toMatchObject({ code: 'backend_unreachable', retryable: true });
    await stream.ended;
  });

  it('does not hang on a client that keeps its connection open', async () => {
    const world = await open();
    const { socket, ended } = await openSocket(world.port);
    socket.write('POST /v1/auth/device/code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{');
    await world.backend.close({ drainMs: 50 });
    await ended;
    expect(socket.destroyed).toBe(true);
  });

  it('a restart marks machines offline until they link again', async () => {
    const world = await open();
    const { token } = await world.signIn();
    await world.daemon(token);
    await world.restart();
    const { machines } = await world.ok(token, 'machines.list');
    expect(machines).toMatchObject([{ online: false }]);
  });
});

describe('kill -9', () => {
  const backends: BackendProcess[] = [];
  const daemons: FakeDaemon[] = [];
  let folder: string | undefined;
  afterEach(async () => {
    for (const daemon of daemons.splice(0)) daemon.end();
    for (const backend of backends.splice(0)) await backend.kill();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function start(database: string): Promise<BackendProcess> {
    const backend = await startBackend(database);
    backends.push(backend);
    return backend;
  }

  it('in the middle of a turn and of a delivery: nothing is lost, nothing comes twice', async () => {
    folder = await mkdtemp(join(tmpdir(), 'kaiwu-kill-'));
    const database = join(folder, 'kaiwu.db');
    const first = await start(database);
    const token = await first.signIn();
    let deliveriesUnanswered = 0;
    const options = {
      token,
      async after(method: string, params: Record<string, Json>) {
        // Taken, but the backend never hears of it.
        if (method !== 'session.deliver' || params.text !== 'second' || deliveriesUnanswered > 0) return;
        deliveriesUnanswered += 1;
        await new Promise(() => {});
      },
    };
    const daemon = createFakeDaemon({ ...options, url: first.url });
    daemons.push(daemon);
    await daemon.connect();
    const { sessionId } = await first.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' });
    const held = await first.ok(token, 'session.message.send', { sessionId, message: 'hold first' });
    const taken = once(daemon.events, 'request');
    const second = first
      .ok(token, 'session.message.send', { sessionId, message: 'second', messageId: 'second-message' })
      .catch(() => undefined);
    await taken;
    const closed = once(daemon.events, 'close');
    await first.kill();
    await closed;
    await second;

    // The daemon goes on by itself.
    await daemon.record(
      sessionId,
      { type: 'agent_text', messageId: held.messageId, block: 1, text: ' and more' },
      { type: 'turn_ended', messageId: held.messageId, outcome: 'completed' },
    );

    const next = await start(database);
    const again = createFakeDaemon({ ...options, url: next.url, instanceId: 'instance-1' });
    for (const [id, session] of daemon.sessions) again.sessions.set(id, session);
    daemons.push(again);
    await again.connect();
    const { idle } = await next.ok(token, 'session.wait.idle', { sessionId, timeoutSeconds: 30 });
    expect(idle).toBe(true);
    expect(daemon.sessions.get(sessionId)?.messages.map(({ text }) => text)).toEqual([
      'hold first',
      'second',
    ]);

    const resent = { sessionId, message: 'second', messageId: 'second-message', wait: true };
    expect(await next.ok(token, 'session.message.send', resent)).toMatchObject({
      status: 'completed',
      reply: 'echo second',
    });
    const { events } = await next.ok(token, 'session.transcript.get', { sessionId, after: 0, limit: 100 });
    expect(events.map((event: Json) => event.seq)).toEqual(events.map((_: unknown, i: number) => i + 1));
    const texts = events
      .filter((event: Json) => event.type === 'user_message')
      .map((event: Json) => event.text);
    expect(texts).toEqual(['hold first', 'second']);
  });
});
