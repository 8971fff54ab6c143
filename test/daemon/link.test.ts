import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createBackoff } from '../../src/daemon/link/backoff.ts';
import { toLinkUrl } from '../../src/daemon/link/url.ts';
import { createFakeBackend, TOKEN } from './helpers/fake-backend.ts';
import { assertGapless, createWorld, fakeAgent, MACHINE } from './helpers/world.ts';

test('hello says who the daemon is and what it has', async () => {
  const world = await createWorld();
  expect(world.backend.hellos[0]).toMatchObject({
    machineId: MACHINE.machineId,
    machineName: MACHINE.name,
    sessions: [],
    daemonVersion: '0.0.0-test',
  });
  expect(world.backend.hellos[0]?.agents.find((agent) => agent.agentId === 'demo')?.permissionModes).toEqual([
    'default',
    'plan',
    'read_only',
    'accept_edits',
    'bypass',
  ]);
  await world.start('s1');
  world.backend.drop();
  await world.backend.until(() => world.backend.hellos.length === 2, 'a second hello');
  expect(world.backend.hellos[1]).toMatchObject({
    sessions: [{ sessionId: 's1', lastSeq: 1 }],
    instanceId: world.backend.hellos[0]?.instanceId,
  });
});

test('while the backend is away the turn goes on, and its events come later, in order, once each', async () => {
  const world = await createWorld();
  await world.start('s1');
  await world.send('s1', 'sleep 2', { messageId: 'm1' });
  await world.send('s1', 'say after', { messageId: 'm2' });
  await world.backend.event('s1', 'user_message');
  const { port } = world.backend;
  await world.backend.stop();
  await vi.waitFor(
    () => expect(world.daemon.status().sessions[0]).toMatchObject({ status: 'idle', queued: 0 }),
    20_000,
  );
  expect(world.daemon.status().outbox.events).toBeGreaterThan(3);
  expect(world.daemon.status().link.state).toBe('waiting');
  const back = await createFakeBackend({ port, from: world.backend });
  await back.event('s1', 'turn_ended', (event) => event.messageId === 'm2');
  assertGapless(back.events('s1'));
  const turns = back
    .events('s1')
    .flatMap((event) => (event.type === 'turn_ended' ? [`${event.messageId} ${event.outcome}`] : []));
  expect(turns).toEqual(['m1 completed', 'm2 completed']);
  await vi.waitFor(() => expect(world.daemon.status().outbox.events).toBe(0), 10_000);
  await world.daemon.stop({ graceMs: 0 });
  await back.stop();
});

test('a link that is cut after events were stored, before the answer, doubles none', async () => {
  const world = await createWorld();
  await world.start('s1');
  for (let i = 0; i < 5; i += 1) {
    world.backend.behaviour.dropAfterAppends = 1 + (i % 3);
    // As the backend does: what was not answered is sent again with the next link.
    for (let delivered = false; !delivered; ) {
      await world.backend.linked();
      delivered = await world.send('s1', `say ${i}`, { messageId: `m${i}` }).then(
        () => true,
        () => false,
      );
    }
    await world.backend.event('s1', 'turn_ended', (event) => event.messageId === `m${i}`);
  }
  assertGapless(world.backend.events('s1'));
  expect(world.backend.events('s1').filter((event) => event.type === 'turn_ended')).toHaveLength(5);
});

test('a backend that fails to store gets the events again', async () => {
  const world = await createWorld();
  world.backend.behaviour.failAppends = 2;
  const start = world.start('s1');
  await world.backend.event('s1', 'session_started');
  await start;
  expect(world.backend.behaviour.failAppends).toBe(0);
  expect(await world.turn('s1', 'say fine')).toMatchObject({ reply: 'fine' });
  expect(world.lines.filter((line) => line.message.includes('did not take'))).toHaveLength(2);
});

test('a half-open link is found dead and opened again', async () => {
  const world = await createWorld({
    link: { limits: { pingMs: 50, deadMs: 250, backoffMinMs: 20, backoffMaxMs: 50 } },
  });
  world.backend.behaviour.deaf = true;
  world.backend.drop();
  await vi.waitFor(() => expect(world.backend.attempts).toBeGreaterThan(1), 10_000);
  await vi.waitFor(
    () => expect(world.daemon.status().link.lastError).toMatch(/nothing was heard|not answered/),
    20_000,
  );
  world.backend.behaviour.deaf = false;
  await world.backend.until(() => world.backend.hellos.length >= 2, 'a second hello');
  await vi.waitFor(() => expect(world.daemon.status().link.state).toBe('up'), 10_000);
});

test('a token that is refused is a state of its own, tried again slowly and with the newest token', async () => {
  let token: string | undefined = 'stale';
  const world = await createWorld({
    linked: false,
    link: { token: () => token, limits: { backoffMinMs: 5, backoffMaxMs: 10, signInMs: 150 } },
  });
  await vi.waitFor(() => expect(world.daemon.status().link.state).toBe('sign_in_needed'), 10_000);
  await sleep(700);
  expect(world.backend.attempts).toBeLessThan(7);
  token = undefined;
  const before = world.backend.attempts;
  await vi.waitFor(
    () => expect(world.daemon.status().link.lastError).toContain('nobody is signed in'),
    10_000,
  );
  expect(world.backend.attempts - before).toBeLessThan(3);
  token = TOKEN;
  await world.backend.linked();
  await vi.waitFor(
    () => expect(world.daemon.status().link).toMatchObject({ state: 'up', attempts: 0 }),
    10_000,
  );
  world.backend.behaviour.closeWith = [4401, 'revoked'];
  world.backend.drop();
  await vi.waitFor(
    () => expect(world.daemon.status().link).toMatchObject({ state: 'sign_in_needed', lastError: 'revoked' }),
    10_000,
  );
  // One line a change of state, not one an attempt.
  expect(world.lines.filter((line) => line.message === 'no link to the backend').length).toBeLessThan(8);
});

test('another daemon on this machine ends this one’s link with an error that names it', async () => {
  const world = await createWorld({ linked: false, backend: await refusing() });
  await vi.waitFor(() => expect(world.fatal).toHaveLength(1), 10_000);
  expect(world.fatal[0]).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('pid 77 on host-a'),
  });
  expect(world.daemon.status().link.state).toBe('conflict');
  const { attempts } = world.backend;
  await sleep(300);
  expect(world.backend.attempts).toBe(attempts);
  await world.daemon.stop({ graceMs: 0 });
  await world.backend.stop();
});

async function refusing() {
  const backend = await createFakeBackend();
  backend.behaviour.closeWith = [4409, 'pid 77 on host-a'];
  return backend;
}

test('an agent that writes faster than the backend takes is held back, not buffered', async () => {
  const world = await createWorld({ agents: [fakeAgent('text-flood')] });
  await world.start('s1', 'text-flood');
  let release = () => {};
  world.backend.behaviour.holdAppends = new Promise((resolve) => {
    release = resolve;
  });
  const turn = world.turn('s1', '40000');
  await vi.waitFor(() => expect(world.daemon.status().outbox.events).toBeGreaterThan(2000), 30_000);
  await sleep(500);
  const waiting = world.daemon.status().outbox.events;
  expect(waiting).toBeLessThan(2300);
  release();
  expect((await turn).reply.length).toBe(40_000_000);
  assertGapless(world.backend.events('s1'));
});

test('a token that no header can carry is a reason to wait, and not the end of the daemon', async () => {
  let token = 'two\nlines';
  const world = await createWorld({ linked: false, link: { token: () => token } });
  await vi.waitFor(() => expect(world.daemon.status().link.attempts).toBeGreaterThan(1), 10_000);
  expect(world.daemon.status().link).toMatchObject({
    state: 'waiting',
    lastError: expect.stringContaining('header'),
  });
  token = TOKEN;
  await world.backend.linked();
});

test('the wait between attempts doubles up to its limit and is spread at random', () => {
  const waits = (random: number) => {
    const backoff = createBackoff({ minMs: 1000, maxMs: 30_000, random: () => random });
    return Array.from({ length: 8 }, () => backoff.next());
  };
  expect(waits(1)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(waits(0)).toEqual(Array.from({ length: 8 }, () => 1000));
  // Ten minutes without a backend: fewer than 60 attempts on the average of the spread.
  const backoff = createBackoff({ minMs: 1000, maxMs: 30_000, random: () => 0.5 });
  let attempts = 0;
  for (let waited = 0; waited < 600_000; attempts += 1) waited += backoff.next();
  expect(attempts).toBeLessThan(60);
});

test('the link’s address: below a path, never in the clear to another machine, without what is secret', () => {
  expect(toLinkUrl('http://127.0.0.1:4000')).toBe('ws://127.0.0.1:4000/v1/link');
  expect(toLinkUrl('https://user:pw@example.com/kaiwu/?a=b')).toBe('wss://example.com/kaiwu/v1/link');
  for (const host of ['localhost:1', '[::1]:1', '127.1']) expect(toLinkUrl(`http://${host}`)).toMatch(/^ws:/);
  for (const host of [
    'example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '0.0.0.0',
    '10.0.0.1',
    'user:127.0.0.1@example.com',
    '[::ffff:10.0.0.1]',
  ])
    expect(() => toLinkUrl(`http://${host}`)).toThrow(/Plain HTTP/);
  expect(() => toLinkUrl('nonsense')).toThrow(/not a URL/);
});
