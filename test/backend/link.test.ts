import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createLinkSocket, type LinkSocket } from '../../src/backend/link/link-socket.ts';
import type { Logger } from '../../src/core/ports/host.ts';
import type { SessionEvent } from '../../src/core/session.ts';
import { createFakeDaemon, type FakeDaemon } from './helpers/fake-daemon.ts';
import { until } from './helpers/until.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let token: string;
const loose: FakeDaemon[] = [];

beforeEach(async () => {
  world = await openWorld({
    timings: { link: { pingMs: 100, deadMs: 1000, helloMs: 500, probeMs: 300 } },
  });
  ({ token } = await world.signIn());
});
afterEach(async () => {
  for (const daemon of loose.splice(0)) daemon.end();
  await world.end();
});

/** A daemon that has not connected yet. */
function makeDaemon(options: Partial<Parameters<typeof createFakeDaemon>[0]> = {}): FakeDaemon {
  const daemon = createFakeDaemon({ url: world.url, token, ...options });
  loose.push(daemon);
  return daemon;
}

async function open(bearer: string | undefined, headers: Record<string, string> = {}) {
  const ws = new WebSocket(`${world.url.replace('http', 'ws')}/v1/link`, {
    headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
  });
  ws.on('error', () => {});
  const refused = once(ws, 'unexpected-response').then(async ([, incoming]) => {
    let text = '';
    for await (const part of incoming) text += part;
    return { status: incoming.statusCode as number, body: JSON.parse(text) };
  });
  refused.catch(() => {});
  const opened = once(ws, 'open').then(() => undefined);
  opened.catch(() => {});
  return { ws, refused: await Promise.race([refused, opened]) };
}

const machine = async () => (await world.ok(token, 'machines.list')).machines[0];
const spawn = async () =>
  (await world.ok(token, 'session.spawn_new', { agentId: 'demo', directory: '/tmp' })).sessionId as string;
const gone = () => until(world.store.feed, (entry) => entry.type === 'machine.changed' && !entry.online);

describe('the door', () => {
  it('opens to device tokens alone, at our own address', async () => {
    expect((await open(undefined)).refused).toMatchObject({
      status: 401,
      body: { error: { code: 'not_authenticated' } },
    });
    const api = await world.makeToken();
    expect((await open(api)).refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await open(token, { host: 'evil.example' })).refused?.status).toBe(403);
    expect((await open(token, { origin: 'https://evil.example' })).refused?.status).toBe(403);
    const { ws, refused } = await open(token);
    expect(refused).toBeUndefined();
    ws.terminate();
  });

  it('who says no hello is shown out', async () => {
    const { ws } = await open(token);
    const [code, reason] = await once(ws, 'close');
    expect(code).toBe(4408);
    expect(reason.toString()).toContain('hello');
  });

  it('a hello that is not valid, or of another protocol, is closed with its reason', async () => {
    const daemon = makeDaemon();
    let closed = once(daemon.events, 'close');
    await expect(daemon.connect({ machineId: '' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await closed).toEqual([4400, expect.stringContaining('machineId')]);
    closed = once(daemon.events, 'close');
    await expect(daemon.connect({ protocol: 7 })).rejects.toMatchObject({ code: 'daemon_too_old' });
    expect(await closed).toEqual([4400, expect.stringContaining('protocol 1 expected, 7 received')]);
    expect(await machine()).toBeUndefined();
  });

  it('welcomes, and the machine is listed as online and then as gone', async () => {
    const daemon = makeDaemon();
    expect(await daemon.connect()).toEqual({ protocol: 1, backendVersion: '1.2.3', sessions: [] });
    expect(await machine()).toMatchObject({ machineId: 'mach_one', name: 'Test machine', online: true });
    const left = gone();
    await daemon.drop();
    await left;
    expect(await machine()).toMatchObject({ online: false });
  });

  it('tells what is stored of each session, archived ones that the daemon holds included', async () => {
    const daemon = await world.daemon(token);
    const [one, two, three] = [await spawn(), await spawn(), await spawn()];
    await daemon.record(two, { type: 'notice', text: 'more' });
    await world.ok(token, 'session.archive', { sessionId: two });
    await world.ok(token, 'session.archive', { sessionId: three });
    daemon.sessions.delete(three);
    await daemon.drop();
    const { sessions } = await daemon.connect();
    expect(new Map(sessions.map((each) => [each.sessionId, each.ackedSeq]))).toEqual(
      new Map([
        [one, 1],
        [two, 2],
      ]),
    );
  });
});

describe('one live link a machine', () => {
  it('a second daemon is refused while the first one answers', async () => {
    const first = await world.daemon(token);
    const second = makeDaemon({ instanceId: 'instance-2' });
    const closed = once(second.events, 'close');
    await expect(second.connect()).rejects.toMatchObject({ code: 'conflict' });
    expect(await closed).toEqual([4409, 'machine already linked']);
    await expect(second.connect()).rejects.toMatchObject({ code: 'conflict' });
    expect(first.ws.readyState).toBe(WebSocket.OPEN);
    expect(await spawn()).toMatch(/^sess_/);
    expect(first.requests.some(({ method }) => method === 'session.start')).toBe(true);
  });

  it('two at the same moment: one wins', async () => {
    const daemons = ['a', 'b', 'c'].map((instanceId) => makeDaemon({ instanceId }));
    const outcomes = await Promise.allSettled(daemons.map((daemon) => daemon.connect()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await machine()).toMatchObject({ online: true });
  });

  it('one that no longer answers is replaced', async () => {
    const dead = await world.daemon(token, { autoPong: false });
    const closed = once(dead.events, 'close');
    const fresh = makeDaemon({ instanceId: 'instance-2' });
    await fresh.connect();
    await closed;
    expect(await machine()).toMatchObject({ online: true });
    await spawn();
    expect(fresh.requests.map(({ method }) => method)).toContain('session.start');
  });

  it('the same daemon coming back replaces its own old link at once', async () => {
    const daemon = await world.daemon(token);
    const old = daemon.ws;
    const closed = once(old, 'close');
    await daemon.connect();
    expect((await closed)[0]).toBe(4410);
    expect(await machine()).toMatchObject({ online: true });
    expect(await spawn()).toMatch(/^sess_/);
  });
});

describe('a link that dies', () => {
  it('half open: silence is noticed and the machine goes offline', async () => {
    const silent = await world.daemon(token, { autoPong: false });
    const left = gone();
    // Reading nothing, it does not see the close either.
    silent.ws.pause();
    await left;
    expect(await machine()).toMatchObject({ online: false });
  });

  it('a quiet but living one stays', async () => {
    const daemon = await world.daemon(token);
    const pings: number[] = [];
    daemon.ws.on('ping', () => pings.push(1));
    await expect.poll(() => pings.length, { timeout: 20_000 }).toBeGreaterThan(8);
    expect(await machine()).toMatchObject({ online: true });
  });

  it('ends when its device is revoked, and cannot come back', async () => {
    const device = await world.signIn('other');
    const daemon = await world.daemon(device.token);
    const closed = once(daemon.events, 'close');
    await world.ok(token, 'device.revoke', { deviceId: device.deviceId });
    expect((await closed)[0]).toBe(4401);
    expect((await open(device.token)).refused?.status).toBe(401);
  });

  it('ends with the backend, by 1012', async () => {
    const daemon = await world.daemon(token);
    const closed = once(daemon.events, 'close');
    await world.backend.close();
    expect((await closed)[0]).toBe(1012);
  });
});

describe('frames', () => {
  const event = (seq: number, more: object = {}): SessionEvent => ({
    type: 'notice',
    text: `n${seq}`,
    seq,
    at: new Date().toISOString(),
    ...more,
  });

  it('bad events are answered with invalid_input, logged, and the link lives', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const bad: unknown[] = [
      { sessionId, events: [] },
      { sessionId, events: [event(0)] },
      { sessionId, events: [event(2, { at: 'yesterday' })] },
      { sessionId, events: [event(2, { type: 'novelty' })] },
      { sessionId, events: [{ type: 'turn_ended', seq: 2, at: new Date().toISOString() }] },
      { sessionId, events: Array.from({ length: 201 }, (_, i) => event(i + 2)) },
      { events: [event(2)] },
      null,
    ];
    for (const params of bad) {
      await expect(daemon.peer.request('events.append', params as never, 5000)).rejects.toMatchObject({
        code: 'invalid_input',
      });
    }
    expect(world.logs.filter((line) => line.includes('events.append refused'))).toHaveLength(bad.length);
    expect((await world.store.sessions.get(sessionId)).lastSeq).toBe(1);
    daemon.ws.send('not json');
    daemon.ws.send('[]');
    daemon.ws.send('{"jsonrpc":"2.0","id":99,"method":"no.such","params":{}}');
    daemon.peer.notify('delta', { sessionId, text: 3 });
    await daemon.record(sessionId, { type: 'notice', text: 'still here' });
    expect((await world.store.sessions.get(sessionId)).lastSeq).toBe(2);
  });

  it('doubles are skipped and a gap is not passed over', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const append = (...events: SessionEvent[]) =>
      daemon.peer.request('events.append', { sessionId, events }, 5000);
    expect(await append(event(2), event(3))).toEqual({ ackedSeq: 3 });
    expect(await append(event(2), event(3), event(4))).toEqual({ ackedSeq: 4 });
    expect(await append(event(6))).toEqual({ ackedSeq: 4 });
    const { events } = await world.store.transcripts.page(sessionId, { after: 1, limit: 10 });
    expect(events.map((each) => each.seq)).toEqual([2, 3, 4]);
  });

  it("another machine's session is not touched", async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    const other = await world.daemon(token, { machineId: 'mach_two' });
    await expect(
      other.peer.request('events.append', { sessionId, events: [event(2)] }, 5000),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await expect(
      other.peer.request('events.append', { sessionId: 'sess_none', events: [event(2)] }, 5000),
    ).rejects.toMatchObject({ code: 'session_not_found' });
    const heard: unknown[] = [];
    world.store.feed.subscribe((entry) => heard.push(entry));
    const delta = { sessionId, messageId: 'm', kind: 'text', block: 1, text: 'hello' } as const;
    other.peer.notify('delta', delta);
    await expect.poll(() => world.logs.join('\n'), { timeout: 10_000 }).toContain('delta refused');
    expect(heard).toEqual([]);
  });

  it('deltas reach live viewers and are not stored', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const heard = until(world.store.feed, (entry) => entry.type === 'delta');
    daemon.peer.notify('delta', { sessionId, messageId: 'm', kind: 'text', block: 1, text: 'при' });
    expect(await heard).toMatchObject({ sessionId, text: 'при' });
    const stored = await world.store.feed.since(0, 1000);
    expect(stored.some((entry) => entry.type === 'delta')).toBe(false);
  });

  it('nothing counts before hello', async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    const { ws } = await open(token);
    ws.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'events.append',
        params: { sessionId, events: [event(2)] },
      }),
    );
    const [data] = await once(ws, 'message');
    expect(JSON.parse(data.toString()).error.data.code).toBe('conflict');
    expect((await world.store.sessions.get(sessionId)).lastSeq).toBe(1);
    ws.terminate();
  });

  it('a frame that is too large closes the link, and it can come back', async () => {
    const daemon = await world.daemon(token);
    const closed = once(daemon.events, 'close');
    daemon.ws.send('x'.repeat(8 * 1024 * 1024 + 1));
    expect((await closed)[0]).toBe(1009);
    await daemon.connect();
    expect(await machine()).toMatchObject({ online: true });
  });

  it('binary frames are not spoken here', async () => {
    const daemon = await world.daemon(token);
    const closed = once(daemon.events, 'close');
    daemon.ws.send(Buffer.from([1, 2, 3]));
    expect((await closed)[0]).toBe(1003);
  });

  it('a flood of frames is taken in order and in turn', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const total = 2000;
    const answers = [];
    for (let seq = 2; seq <= total; seq++) {
      const events = [event(seq)];
      answers.push(daemon.peer.request('events.append', { sessionId, events }, 50_000));
    }
    const acked = (await Promise.all(answers)).map((answer) => answer.ackedSeq);
    expect(acked).toEqual(Array.from({ length: total - 1 }, (_, i) => i + 2));
    expect(await machine()).toMatchObject({ online: true });
  });

  it('one that reads nothing is given up before it costs memory', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.on('error', () => {});
    const [ws] = await once(server, 'connection');
    client.pause();
    const lines: string[] = [];
    const log = { warn: (_: object, message: string) => lines.push(message) } as unknown as Logger;
    const timings = { pingMs: 60_000, deadMs: 60_000, helloMs: 60_000, probeMs: 60_000 };
    let socket!: LinkSocket;
    const closed = new Promise((resolve) => {
      socket = createLinkSocket(ws, {
        timings,
        log,
        monotonicMs: () => performance.now(),
        onFrame: async () => {},
        onClose: resolve,
      });
    });
    const text = 'x'.repeat(1_000_000);
    for (let i = 0; i < 60; i++) socket.send(text);
    expect(await closed).toBe(1006);
    expect(lines).toEqual(['link does not read what it is sent, giving it up']);
    client.terminate();
    server.close();
  });

  it('a long backlog does not fill the link: all of it arrives when the machine is back', async () => {
    await world.end();
    world = await openWorld();
    ({ token } = await world.signIn());
    const daemon = await world.daemon(token);
    const sessions = await Promise.all(Array.from({ length: 50 }, spawn));
    const left = gone();
    await daemon.drop();
    await left;
    for (const sessionId of sessions) {
      const message = 'x'.repeat(1_000_000);
      const { status } = await world.ok(token, 'session.message.send', { sessionId, message });
      expect(status).toBe('queued');
    }
    await daemon.connect();
    const idle = sessions.map((sessionId) => world.ok(token, 'session.wait.idle', { sessionId }));
    for (const answer of await Promise.all(idle)) expect(answer.idle).toBe(true);
    for (const session of daemon.sessions.values()) expect(session.messages).toHaveLength(1);
    expect(daemon.requests.filter(({ method }) => method === 'session.deliver')).toHaveLength(50);
  });
});
