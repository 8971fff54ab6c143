import { afterEach, beforeEach, expect, it } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import { openSessions, type SessionWorld } from './helpers/session-world.ts';

let t: SessionWorld;
let onDeliver: (params: { delivery?: string }) => void | Promise<void>;
beforeEach(async () => {
  onDeliver = () => {};
  t = await openSessions({
    before: (method, params) => (method === 'session.deliver' ? onDeliver(params) : undefined),
  });
});
afterEach(() => t.end());

const running = async () => {
  const sessionId = await t.spawn();
  await t.ok('session.message.send', { sessionId, message: 'hold on' });
  await expect.poll(async () => (await t.session(sessionId)).status).toBe('running');
  return sessionId;
};
const delivered = () => t.daemon.requests.filter(({ method }) => method === 'session.deliver');

it('a message that steers reaches the running turn, and its own end is told', async () => {
  const sessionId = await running();
  const sent = await t.ok('session.message.send', {
    sessionId,
    message: 'the other file',
    delivery: 'steer',
    wait: true,
  });
  expect(t.asked('session.deliver')).toMatchObject({ text: 'the other file', delivery: 'steer' });
  expect(sent).toMatchObject({ status: 'completed' });
  expect(await t.session(sessionId)).toMatchObject({ status: 'idle' });
});

it('one that cannot steer is refused, and its id is as good as new', async () => {
  const sessionId = await running();
  onDeliver = ({ delivery }) => {
    if (delivery === 'steer')
      throw new KaiwuError('unsupported', 'demo cannot be steered.', { hint: 'Queue it.' });
  };
  const message = { sessionId, message: 'now', messageId: 'msg_mine_1' };
  const error = await t.fail('session.message.send', { ...message, delivery: 'steer' });
  expect(error).toMatchObject({ code: 'unsupported', message: 'demo cannot be steered.', hint: 'Queue it.' });
  expect(await t.world.store.messages.get('msg_mine_1')).toBeUndefined();
  expect(await t.world.store.messages.undelivered(sessionId)).toEqual([]);
  const queued = await t.ok('session.message.send', message);
  expect(['queued', 'running']).toContain(queued.status);
  expect(delivered().filter(({ params }) => params.messageId === 'msg_mine_1')).toHaveLength(2);
});

it('one whose link drops while it steers is neither lost nor doubled', async () => {
  const sessionId = await running();
  let first = true;
  onDeliver = async ({ delivery }) => {
    if (delivery !== 'steer' || !first) return;
    first = false;
    await t.goOffline();
  };
  const message = { sessionId, message: 'now', messageId: 'msg_mine_2', delivery: 'steer' };
  expect(await t.ok('session.message.send', message)).toMatchObject({ status: 'queued' });
  // While the machine is away nothing can reach a turn; a message that is there already is still the answer.
  expect((await t.fail('session.message.send', { ...message, messageId: 'msg_other' })).code).toBe(
    'machine_offline',
  );
  expect(await t.world.store.messages.get('msg_other')).toBeUndefined();
  await t.daemon.connect();
  await expect.poll(async () => (await t.world.store.messages.get('msg_mine_2'))?.status).toBe('completed');
  expect(t.asked('session.deliver')).toMatchObject({ messageId: 'msg_mine_2', delivery: 'steer' });
  expect(t.daemon.sessions.get(sessionId)?.messages.map(({ text }) => text)).toEqual(['hold on', 'now']);
});

it('one that interrupts goes at once, or with the others when the machine is back', async () => {
  const sessionId = await running();
  await t.ok('session.message.send', { sessionId, message: 'first', delivery: 'interrupt' });
  expect(t.asked('session.deliver')).toMatchObject({ text: 'first', delivery: 'interrupt' });
  await t.goOffline();
  const sent = await t.ok('session.message.send', { sessionId, message: 'second', delivery: 'interrupt' });
  expect(sent).toMatchObject({ status: 'queued' });
  await t.daemon.connect();
  await expect.poll(() => t.asked('session.deliver').text).toBe('second');
  expect(t.asked('session.deliver')).toMatchObject({ delivery: 'interrupt' });
});

it('a plain message says nothing of its delivery, and a steering one has no mode of its own', async () => {
  const sessionId = await running();
  expect(t.asked('session.deliver')).not.toHaveProperty('delivery');
  const error = await t.fail('session.message.send', {
    sessionId,
    message: 'x',
    delivery: 'steer',
    modelOverride: 'large',
    permissionModeOverride: null,
  });
  expect(error).toMatchObject({ code: 'invalid_input', details: { issues: [{ path: 'modelOverride' }] } });
});
