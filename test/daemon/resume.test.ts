import { expect, test } from 'vitest';
import { createWorld, fakeAgent } from './helpers/world.ts';

test('an agent that cannot load its conversation is told of it together with the next message, once', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.turn('s1', 'say one');
  await world.backend.request('session.stop', { sessionId: 's1' });
  const { reply } = await world.turn('s1', 'and now?');
  expect(reply).toMatch(/do not answer it again.*Person: say one\n\nYou: one.*answer now:\nand now\?$/s);
  const started = world.backend.events('s1').findLast((event) => event.type === 'session_started');
  expect(started?.resumed).toBe('replayed');
  expect(world.backend.events('s1').find((event) => event.seq === (started?.seq ?? 0) + 1)).toMatchObject({
    type: 'notice',
    text: expect.stringContaining('together with the next message'),
  });
  // The transcript has the message alone.
  expect(world.backend.events('s1').findLast((event) => event.type === 'user_message')?.text).toBe(
    'and now?',
  );
  expect((await world.turn('s1', 'say two')).reply).toBe('two');
});

test('where the backend does not say what was in it, the agent starts without, and that is said', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.turn('s1', 'say one');
  await world.backend.request('session.stop', { sessionId: 's1' });
  world.backend.behaviour.failTails = true;
  expect((await world.turn('s1', 'say two')).reply).toBe('two');
  expect(world.backend.events('s1').findLast((event) => event.type === 'session_started')?.resumed).toBe(
    'without_history',
  );
});

test('a fork goes on from the conversation of another session of the same agent', async () => {
  const world = await createWorld({ demoKeeps: true, agents: [fakeAgent('plain')] });
  await world.start('s1');
  await world.turn('s1', 'say one');
  await world.start('s2', 'demo', { forkOf: 's1' });
  expect((await world.backend.event('s2', 'session_started')).resumed).toBe('forked');
  expect((await world.turn('s2', 'recall')).reply).toContain('say one');
  await world.turn('s2', 'say two');
  expect((await world.turn('s1', 'recall')).reply).not.toContain('say two');
  await expect(world.start('s3', 'demo', { forkOf: 'nowhere' })).rejects.toMatchObject({
    code: 'session_not_found',
  });
  await expect(world.start('s4', 'plain', { forkOf: 's1' })).rejects.toMatchObject({ code: 'invalid_input' });
  await world.start('s5', 'plain');
  await expect(world.start('s6', 'plain', { forkOf: 's5' })).rejects.toMatchObject({ code: 'unsupported' });
});

test('what a session’s agent is given is asked for at each start and taken back at each end', async () => {
  const log: string[] = [];
  const world = await createWorld({
    agents: [fakeAgent('exits')],
    mcpServers: async ({ sessionId, directory }) => {
      const { token } = await world.daemon.askBackend('session.token', { sessionId });
      log.push(`given ${sessionId} ${token} ${directory === world.workspace}`);
      return [];
    },
    onSessionEnded: (sessionId) => log.push(`ended ${sessionId}`),
  });
  await world.start('s1');
  await world.backend.request('session.stop', { sessionId: 's1' });
  await world.turn('s1', 'say again');
  await world.backend.request('session.stop', { sessionId: 's1' });
  await expect(world.start('s2', 'exits')).rejects.toMatchObject({ code: 'agent_failed' });
  expect(log).toEqual([
    'given s1 token of s1 true',
    'ended s1',
    'given s1 token of s1 true',
    'ended s1',
    'given s2 token of s2 true',
    'ended s2',
  ]);
});

test('without a link the backend cannot be asked, which is said at once', async () => {
  const world = await createWorld({ linked: false, link: { token: () => undefined } });
  await expect(world.daemon.askBackend('session.token', { sessionId: 's1' })).rejects.toMatchObject({
    code: 'backend_unreachable',
  });
});
