import { expect, test, vi } from 'vitest';
import { groupIsGone } from './helpers/processes.ts';
import { assertGapless, createWorld, fakeAgent } from './helpers/world.ts';

test('a full disk fails the turn and nothing else; its end is stored as soon as there is room', async () => {
  const world = await createWorld({ agents: [fakeAgent('slow-line')] });
  await world.start('s1', 'slow-line');
  await world.send('s1', '400000', { messageId: 'm1' });
  await world.backend.event('s1', 'user_message');
  // SQLite itself says that it is full, as it does when the disk is.
  const pages = Number(Object.values(world.db.prepare('PRAGMA page_count').get() ?? {})[0]);
  world.db.exec(`CREATE TABLE filler (text TEXT); PRAGMA max_page_count = ${pages + 2}`);
  await vi.waitFor(
    () => expect(world.lines.some((line) => line.message.includes('cannot be stored'))).toBe(true),
    10_000,
  );
  for (let full = false; !full; ) {
    try {
      world.db.prepare('INSERT INTO filler VALUES (?)').run('x'.repeat(2000));
    } catch {
      full = true;
    }
  }
  await expect(world.start('s2', 'demo', { directory: `/${'d'.repeat(5000)}` })).rejects.toMatchObject({
    code: 'internal',
  });
  world.db.exec('PRAGMA max_page_count = 1000000');
  const end = await world.backend.event('s1', 'turn_ended');
  expect(end).toMatchObject({
    messageId: 'm1',
    outcome: 'failed',
    reason: { message: expect.stringContaining('cannot be stored') },
  });
  await world.backend.event('s1', 'session_failed');
  await world.start('s3');
  expect(await world.turn('s3', 'say alive')).toMatchObject({ reply: 'alive' });
  assertGapless(world.backend.events('s1'));
});

test('where nothing can be written a daemon ends all the same, and so do its agents', async () => {
  const world = await createWorld({ limits: { graces: { inputEndMs: 300, termMs: 300 } } });
  for (const sessionId of ['s1', 's2']) {
    await world.start(sessionId);
    await world.send(sessionId, 'sleep 60');
    await world.backend.event(sessionId, 'tool_call');
  }
  const pids = world.daemon.status().sessions.map(({ pid }) => pid as number);
  world.db.exec('PRAGMA query_only = 1');
  await world.daemon.stop({ graceMs: 100 });
  for (const pid of pids) await groupIsGone(pid, 0);
  expect(world.daemon.status().link.state).toBe('stopped');
});

test('what the disk refused for a moment is stored before what comes after it', async () => {
  const world = await createWorld();
  await world.start('s1');
  const turn = world.turn('s1', 'ask to dance');
  const { request } = await world.backend.event('s1', 'permission_requested');
  world.db.exec('PRAGMA query_only = 1');
  // For as long as it takes to be refused once.
  world.lines.push = (...lines) => {
    world.db.exec('PRAGMA query_only = 0');
    return Array.prototype.push.apply(world.lines, lines);
  };
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: request.requestId,
    optionId: 'yes',
    by: 'app',
  });
  expect(await turn).toMatchObject({ outcome: 'completed', reply: 'granted' });
  await world.backend.event('s1', 'permission_resolved');
  const types = world.backend.events('s1').map(({ type }) => type);
  expect(types.indexOf('permission_resolved')).toBeLessThan(types.indexOf('turn_ended'));
  expect(world.daemon.status().sessions[0]?.status).toBe('idle');
});
