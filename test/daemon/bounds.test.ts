import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { EVENT_LIMITS } from '../../src/core/link.ts';
import { assertGapless, createWorld, fakeAgent, type World } from './helpers/world.ts';

// The fake backend checks what it is sent by the real backend's schemas.

test('more models than travel: the first are listed, all can be chosen, and the machine links again', async () => {
  const world = await createWorld({ agents: [fakeAgent('many-models')] });
  await world.start('s1', 'many-models');
  const { models } = await world.backend.event('s1', 'session_started');
  expect(models).toHaveLength(EVENT_LIMITS.models);
  expect(await world.backend.event('s1', 'notice')).toMatchObject({ text: expect.stringContaining('1001') });
  await world.backend.request('session.set_model', { sessionId: 's1', modelId: 'm1000' });
  const before = world.backend.hellos.length;
  world.backend.drop();
  await world.backend.until(() => world.backend.hellos.length > before, 'another hello');
  await world.backend.linked();
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed' });
  assertGapless(world.backend.events('s1'));
});

test('option ids that are too long travel as short ones, and the agent hears its own', async () => {
  const world = await createWorld({ agents: [fakeAgent('long-option-ids')] });
  await world.start('s1', 'long-option-ids');
  const turn = world.turn('s1', 'go');
  const { request } = await world.backend.event('s1', 'permission_requested');
  const ids = request.options.map(({ optionId }) => optionId);
  expect(new Set(ids).size).toBe(2);
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: request.requestId,
    optionId: ids[0],
    by: 'app',
  });
  expect(await turn).toMatchObject({ outcome: 'completed', reply: 'true' });
});

test('words of 20 MiB are cut where events are made', async () => {
  const world = await createWorld({ agents: [fakeAgent('huge-words'), fakeAgent('huge-error')] });
  await world.start('s1', 'huge-words');
  expect(await world.turn('s1', 'go')).toMatchObject({ outcome: 'completed', reply: 'after all that' });
  const calls = world.backend.events('s1').filter((event) => event.type === 'tool_call');
  expect(new Set(calls.map((call) => call.toolCallId)).size).toBe(2);
  expect(calls[1]).toMatchObject({ title: 'Big', status: 'completed' });
  await world.start('s2', 'huge-error');
  expect(await world.turn('s2', 'go')).toMatchObject({ outcome: 'failed' });
  expect((await world.backend.event('s2', 'turn_ended')).reason?.message.length).toBeLessThan(10_000);
  for (const session of ['s1', 's2']) assertGapless(world.backend.events(session));
});

test('an event that the backend refuses for good gives its place to a notice, and what follows arrives', async () => {
  const world = await createWorld({ agents: [fakeAgent('noisy')] });
  await world.start('s1', 'noisy');
  world.backend.behaviour.refuses = (event) => event.type === 'agent_text';
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed', reply: '' });
  expect(await world.backend.event('s1', 'notice')).toMatchObject({
    text: expect.stringContaining('agent_text'),
    data: { refused: 'agent_text', code: 'invalid_input' },
  });
  world.backend.behaviour.refuses = undefined;
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed', reply: 'fine' });
  assertGapless(world.backend.events('s1'));
});

test('an event that no frame can carry does not end the link again and again', async () => {
  const world = await createWorld({ agents: [fakeAgent('noisy')] });
  await world.start('s1', 'noisy');
  world.backend.behaviour.failAppends = Number.POSITIVE_INFINITY;
  await world.send('s1', 'hi');
  const unsent = `FROM outbox WHERE json LIKE '%"turn_ended"%'`;
  await vi.waitFor(() => expect(world.db.prepare(`SELECT seq ${unsent}`).all()).toHaveLength(1), 20_000);
  // As an earlier version may have left it.
  world.db
    .prepare(`UPDATE outbox SET json = json_set(json, '$.stopReason', ?) WHERE seq = (SELECT seq ${unsent})`)
    .run('x'.repeat(9 * 1024 * 1024));
  world.backend.behaviour.failAppends = 0;
  world.backend.drop();
  expect(await world.backend.event('s1', 'notice')).toMatchObject({
    data: { refused: 'turn_ended', code: 'payload_too_large' },
  });
  await world.backend.linked();
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed', reply: 'fine' });
  expect(world.backend.hellos).toHaveLength(2);
  assertGapless(world.backend.events('s1'));
});

test('a flood of lines that are no messages is kept in few writes', async () => {
  const world = await createWorld({ agents: [fakeAgent('noise-flood')] });
  await world.start('s1', 'noise-flood');
  await world.turn('s1', '20000');
  const lines = world.log('s1').split('\n');
  expect(lines.filter((line) => line.endsWith('noise'))).toHaveLength(20_000);
  expect(lines.filter((line) => line.endsWith(' noise noise')).length).toBeLessThan(1000);
});

/** The backend takes what it is sent and does not say so. */
function holdAppends(world: World): () => void {
  let release = () => {};
  world.backend.behaviour.holdAppends = new Promise((resolve) => {
    release = resolve;
  });
  return release;
}

test('an agent that talks on after its turn is held back too', async () => {
  const world = await createWorld({ agents: [fakeAgent('talks-afterwards')] });
  await world.start('s1', 'talks-afterwards');
  const release = holdAppends(world);
  await world.send('s1', '20000');
  await vi.waitFor(() => expect(world.daemon.status().outbox.events).toBeGreaterThan(2000), 30_000);
  await sleep(500);
  expect(world.daemon.status().outbox.events).toBeLessThan(4000);
  release();
  await world.backend.event('s1', 'notice', ({ text }) => text === '19999');
  assertGapless(world.backend.events('s1'));
});

test('what an agent wrote before it died is read to its end, also by a daemon that had stopped reading', async () => {
  const world = await createWorld({ agents: [fakeAgent('works-and-dies')] });
  await world.start('s1', 'works-and-dies');
  const release = holdAppends(world);
  const turn = world.turn('s1', '2500');
  await vi.waitFor(() => expect(world.daemon.status().outbox.events).toBeGreaterThan(2000), 30_000);
  await vi.waitFor(() => expect(world.daemon.status().sessions).toEqual([]), 30_000);
  release();
  expect(await turn).toMatchObject({ outcome: 'failed' });
  expect(world.backend.events('s1').filter(({ type }) => type === 'tool_call')).toHaveLength(2500);
});
