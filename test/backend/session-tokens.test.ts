import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../src/core/session.ts';
import { openSessions, type SessionWorld } from './helpers/session-world.ts';

let t: SessionWorld;
let sessionId: string;
beforeEach(async () => {
  t = await openSessions();
  sessionId = await t.spawn();
});
afterEach(() => t.end());

const isGood = async (token: string) =>
  (await t.world.get('/v1/catalog?surface=agent', { token })).status === 200;

describe('the token of a session', () => {
  it('speaks for its session as an agent, and for nothing else', async () => {
    const agent = await t.agentToken(sessionId);
    expect(await t.asAgent(agent, 'session.title.set', { title: 'Mine' })).toMatchObject({ status: 'ok' });
    expect(await t.session(sessionId)).toMatchObject({ title: 'Mine' });
    const other = await t.spawn();
    const beyond = await t.asAgent(agent, 'session.title.set', { sessionId: other, title: 'Yours' });
    expect(beyond).toMatchObject({ status: 'error', error: { code: 'forbidden' } });
    const asPerson = await t.world.call(agent, 'session.title.set', { title: 'x' }, { surface: 'cli' });
    expect(asPerson).toMatchObject({ status: 'error', error: { code: 'forbidden' } });
    expect((await t.ok('token.list')).tokens).toEqual([]);
  });

  it('is one at a time: the next one ends it, also for what is open', async () => {
    const first = await t.agentToken(sessionId);
    const stream = await t.world.get('/v1/events', { token: first });
    expect(stream.status).toBe(200);
    const second = await t.agentToken(sessionId);
    expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
    // Ends by itself.
    await stream.text().catch(() => {});
    const others = await t.agentToken(await t.spawn());
    expect([await isGood(second), await isGood(others)]).toEqual([true, true]);
  });

  it.each<[string, SessionEventBody]>([
    ['stops', { type: 'session_stopped' }],
    ['fails', { type: 'session_failed', reason: { code: 'agent_failed', message: 'gone' } }],
  ])('ends when its session %s', async (_, event) => {
    const agent = await t.agentToken(sessionId);
    expect(await isGood(agent)).toBe(true);
    await t.daemon.record(sessionId, event);
    expect(await isGood(agent)).toBe(false);
    // The next start of the agent has its own.
    expect(await isGood(await t.agentToken(sessionId))).toBe(true);
  });

  it('ends with the archiving, and is not given for an archived session', async () => {
    const agent = await t.agentToken(sessionId);
    await t.ok('session.archive', { sessionId });
    expect(await isGood(agent)).toBe(false);
    await expect(t.agentToken(sessionId)).rejects.toMatchObject({ code: 'session_archived' });
    await t.ok('session.unarchive', { sessionId });
    expect(await isGood(agent)).toBe(false);
  });

  it('ends with the sign-in of its machine, also for what is open, and does not end that itself', async () => {
    const { deviceId } = await t.world.signIn('other');
    const agent = await t.agentToken(sessionId);
    await t.ok('device.revoke', { deviceId });
    expect(await isGood(agent)).toBe(true);
    const left = await t.world.post('/v1/auth/logout', {}, { token: agent });
    expect(left.status).toBe(200);
    expect([await isGood(agent), (await t.world.call(t.token, 'session.list', {})).status]).toEqual([
      false,
      'ok',
    ]);
    const next = await t.agentToken(sessionId);
    const stream = await t.world.get('/v1/events', { token: next });
    const { devices } = await t.ok('device.list');
    const own = devices.find(({ current }: { current: boolean }) => current);
    const { token } = await t.world.signIn('second');
    expect(await t.world.call(token, 'device.revoke', { deviceId: own.deviceId })).toMatchObject({
      status: 'ok',
    });
    expect(await isGood(next)).toBe(false);
    await stream.text().catch(() => {});
  });

  it('is given to the machine of the session only, and stored as a digest', async () => {
    const agent = await t.agentToken(sessionId);
    const { token } = await t.world.signIn('second');
    const other = await t.world.daemon(token, { machineId: 'mach_two', instanceId: 'instance-b' });
    for (const [of, code] of [
      [sessionId, 'forbidden'],
      ['sess_nobody', 'session_not_found'],
    ] as const) {
      const token = other.peer.request('session.token', { sessionId: of }, 10_000);
      await expect(token).rejects.toMatchObject({ code });
      const tail = other.peer.request('transcript.tail', { sessionId: of, maxChars: 10 }, 10_000);
      await expect(tail).rejects.toMatchObject({ code });
    }
    expect(await isGood(agent)).toBe(true);
    expect(t.world.logs.join('\n')).not.toContain(agent);
  });
});

describe('the end of a conversation', () => {
  const tail = (maxChars: number) =>
    t.daemon.peer.request('transcript.tail', { sessionId, maxChars }, 10_000);

  it('is what was said, oldest first, the newest kept', async () => {
    await t.ok('session.message.send', { sessionId, message: 'one', wait: true });
    await t.ok('session.message.send', { sessionId, message: 'two', wait: true });
    const lines = [
      { role: 'user', text: 'one' },
      { role: 'agent', text: 'echo one' },
      { role: 'user', text: 'two' },
      { role: 'agent', text: 'echo two' },
    ];
    expect(await tail(1000)).toEqual({ lines, complete: true });
    expect(await tail(11)).toEqual({ lines: lines.slice(2), complete: false });
    expect(await tail(4)).toEqual({ lines: [{ role: 'agent', text: ' two' }], complete: false });
    expect(await tail(0)).toEqual({ lines: [], complete: false });
  });

  it('is bounded, whatever is asked for', async () => {
    const text = 'x'.repeat(150_000);
    await t.daemon.record(sessionId, { type: 'user_message', messageId: 'm', text });
    await t.daemon.record(sessionId, { type: 'agent_text', messageId: 'm', block: 1, text });
    const { lines, complete } = await tail(10_000_000);
    expect(complete).toBe(false);
    expect(lines.map(({ role, text }) => [role, text.length])).toEqual([
      ['user', 50_000],
      ['agent', 150_000],
    ]);
  });
});
