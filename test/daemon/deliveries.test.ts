import { expect, test } from 'vitest';
import { createRuntime } from '../../src/app/runtime.ts';
import { assertGapless, createWorld, fakeAgent, type World } from './helpers/world.ts';

const order = (world: World, ...types: string[]) =>
  world.backend
    .events('s1')
    .flatMap((event) =>
      types.includes(event.type) && 'messageId' in event
        ? [`${event.type} ${event.messageId}${'outcome' in event ? ` ${event.outcome}` : ''}`]
        : [],
    );

test('a message that interrupts ends the turn and goes before what is queued, once', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.send('s1', 'sleep 30', { messageId: 'm1' });
  await world.send('s1', 'say queued', { messageId: 'm2' });
  await world.backend.event('s1', 'tool_call');
  await world.send('s1', 'sleep 1', { messageId: 'm3', delivery: 'interrupt' });
  await world.backend.event('s1', 'agent_text', (event) => event.messageId === 'm3');
  // The same once more ends nothing.
  await world.send('s1', 'sleep 1', { messageId: 'm3', delivery: 'interrupt' });
  await world.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm2');
  expect(order(world, 'user_message', 'turn_ended')).toEqual([
    'user_message m1',
    'turn_ended m1 canceled',
    'user_message m3',
    'turn_ended m3 completed',
    'user_message m2',
    'turn_ended m2 completed',
  ]);
  // Without a turn it is a message like another.
  expect(await world.turn('s1', 'say alone', { delivery: 'interrupt' })).toMatchObject({ reply: 'alone' });
});

test('a message that steers reaches the agent inside the turn and ends with it', async () => {
  const world = await createWorld();
  await world.start('s1');
  const turn = world.turn('s1', 'sleep 2', { messageId: 'm1' });
  await world.backend.event('s1', 'tool_call');
  await world.send('s1', 'left', { messageId: 'm2', delivery: 'steer' });
  const steered = await world.backend.event('s1', 'user_message', (event) => event.messageId === 'm2');
  expect(steered).toMatchObject({ text: 'left', steered: 'm1' });
  await world.send('s1', 'left', { messageId: 'm2', delivery: 'steer' });
  expect((await turn).reply).toContain('heard left');
  expect(order(world, 'user_message', 'turn_ended')).toEqual([
    'user_message m1',
    'user_message m2',
    'turn_ended m2 completed',
    'turn_ended m1 completed',
  ]);
  expect(await world.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm2')).toMatchObject({
    steered: 'm1',
  });
  // No turn runs any more: it waits for its own, which is at once.
  expect(await world.turn('s1', 'say own', { messageId: 'm3', delivery: 'steer' })).toMatchObject({
    outcome: 'completed',
    reply: 'own',
  });
  assertGapless(world.backend.events('s1'));
});

test('what a canceled turn was steered with ends canceled too', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.send('s1', 'sleep 30', { messageId: 'm1' });
  await world.backend.event('s1', 'tool_call');
  await world.send('s1', 'left', { messageId: 'm2', delivery: 'steer' });
  await world.backend.event('s1', 'user_message', (event) => event.messageId === 'm2');
  await world.backend.request('session.interrupt', { sessionId: 's1' });
  expect(order(world, 'turn_ended')).toEqual(['turn_ended m2 canceled', 'turn_ended m1 canceled']);
});

test('an agent that cannot be steered refuses it, with nothing stored', async () => {
  const world = await createWorld({ agents: [fakeAgent('pauses')] });
  await world.start('s1', 'pauses');
  const messageId = createRuntime().newId('msg');
  await expect(world.send('s1', 'hi', { messageId, delivery: 'steer' })).rejects.toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining('queue'),
  });
  await expect(world.send('s1', 'hi', { delivery: 'shout' as 'steer' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect(world.backend.events('s1').some((event) => event.type === 'user_message')).toBe(false);
  // The id is still free.
  expect(await world.turn('s1', '1', { messageId })).toMatchObject({ outcome: 'completed' });
});

test('an agent that says long after the turn that it took a message changes nothing any more', async () => {
  const steerable = { env: { FAKE_STEERING: 'injected' } };
  const world = await createWorld({ agents: [fakeAgent('steered-late', steerable)] });
  await world.start('s1', 'steered-late');
  await world.send('s1', 'go', { messageId: 'm1' });
  await world.backend.event('s1', 'user_message');
  await world.send('s1', 'left', { messageId: 'm2', delivery: 'steer' });
  await world.backend.event('s1', 'notice', ({ text }) => text === 'took it at last');
  await world.turn('s1', 'next', { messageId: 'm3' });
  expect(order(world, 'user_message', 'turn_ended', 'message_canceled')).toEqual([
    'user_message m1',
    'message_canceled m2',
    'turn_ended m1 completed',
    'user_message m3',
    'turn_ended m3 completed',
  ]);
});

test('a message that may have reached an agent before it died is not sent to the next one', async () => {
  const steerable = { env: { FAKE_STEERING: 'injected' } };
  const world = await createWorld({ agents: [fakeAgent('dies-steered', steerable)] });
  await world.start('s1', 'dies-steered');
  await world.send('s1', 'go', { messageId: 'm1' });
  await world.backend.event('s1', 'user_message');
  await world.send('s1', 'left', { messageId: 'm2', delivery: 'steer' });
  await world.backend.event('s1', 'session_failed');
  await world.turn('s1', 'next', { messageId: 'm3' });
  expect(order(world, 'user_message', 'turn_ended', 'message_canceled')).toEqual([
    'user_message m1',
    'message_canceled m2',
    'turn_ended m1 failed',
    'user_message m3',
    'turn_ended m3 completed',
  ]);
});
