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
