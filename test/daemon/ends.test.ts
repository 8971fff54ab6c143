import { expect, test, vi } from 'vitest';
import { createWorld, fakeAgent } from './helpers/world.ts';

const LOADS = { FAKE_CAPABILITIES: JSON.stringify({ loadSession: true }) };

test('a message that comes while the session is being stopped has an agent that is not ended under it', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.turn('s1', 'say something');
  await world.backend.request('session.stop', { sessionId: 's1' });
  // A start that is too far to be broken off: it asks for what was said so far.
  let go = () => {};
  world.backend.behaviour.holdTails = new Promise((resolve) => {
    go = resolve;
  });
  await world.send('s1', 'say first', { messageId: 'm1' });
  await vi.waitFor(() => expect(world.daemon.status().sessions[0]?.pid).toBeTypeOf('number'), 10_000);
  const { pid } = world.daemon.status().sessions[0] ?? {};
  await vi.waitFor(() => expect(world.backend.tails).toBe(1), 10_000);
  const stopped = world.backend.request('session.stop', { sessionId: 's1' });
  await world.backend.event('s1', 'message_canceled');
  const turn = world.turn('s1', 'say second');
  await vi.waitFor(() => expect(world.daemon.status().sessions[0]?.queued).toBe(1), 10_000);
  go();
  await stopped;
  expect(await turn).toMatchObject({ outcome: 'completed', reply: expect.stringMatching(/second$/) });
  expect(world.daemon.status().sessions[0]?.pid).not.toBe(pid);
});

test('the process of an agent is known, also when what the one before it left took long to end', async () => {
  const world = await createWorld({
    agents: [fakeAgent('stubborn', { env: { FAKE_START_MS: '3500', ...LOADS } })],
    limits: { graces: { inputEndMs: 300, termMs: 500 } },
  });
  await world.start('s1', 'stubborn');
  const first = Number((await world.turn('s1', 'pid')).reply);
  process.kill(first, 'SIGKILL');
  await world.backend.event('s1', 'session_failed');
  const second = Number((await world.turn('s1', 'pid')).reply);
  expect(second).not.toBe(first);
  expect(world.daemon.status().sessions[0]?.pid).toBe(second);
});
