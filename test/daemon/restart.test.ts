import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSqlite } from '../../src/local/sqlite.ts';
import { makePlace, status } from './helpers/place.ts';
import { childrenOf, groupIsGone, groupMembers } from './helpers/processes.ts';
import { assertGapless, fakeAgent } from './helpers/world.ts';

test('killed in mid-turn: the agent goes, the turn ends as failed, what was queued runs next, nothing twice', async () => {
  const place = await makePlace();
  const first = await place.run();
  await place.start('s1');
  await place.deliver('s1', 'm1', 'sleep 60');
  await place.deliver('s1', 'm2', 'say second');
  await place.backend.event('s1', 'agent_text');
  const pid = (await status(first.port)).sessions[0]?.pid as number;
  expect(groupMembers(pid)).not.toEqual([]);
  await first.kill('SIGKILL');
  // Nobody has started the daemon again yet, and still nothing is left.
  await groupIsGone(pid);

  const second = await place.run();
  const failed = await place.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm1');
  expect(failed).toMatchObject({
    outcome: 'failed',
    reason: {
      code: 'agent_failed',
      message: expect.stringContaining('the daemon restarted during this turn'),
    },
  });
  expect(await place.backend.event('s1', 'session_stopped')).toMatchObject({
    reason: { code: 'agent_failed' },
  });
  await place.backend.event(
    's1',
    'turn_ended',
    (event) => event.messageId === 'm2' && event.outcome === 'completed',
  );
  await place.deliver('s1', 'm1', 'sleep 60');
  await place.deliver('s1', 'm3', 'say third');
  await place.backend.event('s1', 'turn_ended', (event) => event.messageId === 'm3');
  const events = place.backend.events('s1');
  assertGapless(events);
  const order = events.flatMap((event) => (event.type === 'user_message' ? [event.messageId] : []));
  expect(order).toEqual(['m1', 'm2', 'm3']);
  expect(events.filter((event) => event.type === 'session_started').map((event) => event.resumed)).toEqual([
    'new',
    'replayed',
  ]);
  expect(await second.kill('SIGTERM')).toBe(0);
  expect(place.backend.events('s1').at(-1)?.type).toBe('session_stopped');
});

test('killed while its agents ignore everything: their groups end without it, grandchildren and all', async () => {
  const place = await makePlace();
  const first = await place.run();
  await Promise.all([place.start('s1', 'stubborn'), place.start('s2', 'stubborn'), place.start('s3')]);
  const pids = (await status(first.port)).sessions.map((session) => session.pid);
  expect(groupMembers(pids[0] as number).length).toBeGreaterThan(1);
  await first.kill('SIGKILL');
  await Promise.all(pids.map((pid) => groupIsGone(pid)));
  const second = await place.run();
  for (const sessionId of ['s1', 's2', 's3']) {
    expect(await place.backend.event(sessionId, 'session_stopped')).toMatchObject({
      reason: { code: 'daemon_not_running', message: expect.stringContaining('the daemon restarted') },
    });
  }
  expect((await status(second.port)).sessions).toEqual([]);
});

test('what even the guardian could not end, the next start ends, and only that', async () => {
  const place = await makePlace();
  const first = await place.run();
  await place.start('s1', 'stubborn');
  const pid = (await status(first.port)).sessions[0]?.pid as number;
  for (const guardian of childrenOf(first.child.pid as number).filter((child) => child !== pid)) {
    process.kill(guardian, 'SIGKILL');
  }
  await first.kill('SIGKILL');
  expect(groupMembers(pid).length).toBeGreaterThan(1);
  await place.run();
  expect(groupMembers(pid)).toEqual([]);
});

test('a process that was given the number of an agent later is left alone', async () => {
  const place = await makePlace();
  const first = await place.run();
  await place.start('s1');
  await first.kill('SIGKILL');
  const other = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void other.kill('SIGKILL'));
  const db = openSqlite(join(place.home, 'daemon.db'));
  db.prepare('UPDATE sessions SET agent_pid = ?').run(other.pid);
  db.close();
  await place.run();
  await place.backend.event('s1', 'session_stopped');
  expect(groupMembers(other.pid as number)).toEqual([other.pid]);
});

test('killed while an agent starts in a worktree: the next start takes the worktree and its branch back', async () => {
  const place = await makePlace({ agents: [fakeAgent('silent')] });
  const repository = join(realpathSync(place.home), 'repo');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      encoding: 'utf8',
    });
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const first = await place.run();
  const start = () =>
    place.start('s1', 'silent', { directory: repository, worktree: { branch: 'work' } }).catch(() => {});
  const starting = start();
  await vi.waitFor(() => expect(existsSync(`${repository}.worktrees/work/.git`)).toBe(true), 10_000);
  await first.kill('SIGKILL');
  await starting;
  const second = await place.run();
  await place.backend.event('s1', 'session_stopped');
  expect(existsSync(`${repository}.worktrees`)).toBe(false);
  expect(git('branch', '--format=%(refname:short)')).toBe('main\n');
  // The same start again makes it anew, and a stop takes it back as well.
  const again = start();
  await vi.waitFor(() => expect(existsSync(`${repository}.worktrees/work/.git`)).toBe(true), 10_000);
  await second.kill('SIGTERM');
  await again;
  expect(existsSync(`${repository}.worktrees`)).toBe(false);
});

test('the mode that a person chose is the mode of the agent that comes after the daemon was killed', async () => {
  const place = await makePlace({
    agents: [fakeAgent('plain', { env: { FAKE_CAPABILITIES: JSON.stringify({ loadSession: true }) } })],
  });
  const first = await place.run();
  await place.start('s1', 'plain', { permissionMode: 'accept_edits' });
  await place.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  await first.kill('SIGKILL');
  await place.run();
  await place.deliver('s1', 'm1', 'received');
  await place.backend.event('s1', 'turn_ended');
  expect(place.backend.events('s1').findLast((event) => event.type === 'session_started')).toMatchObject({
    permissionMode: 'bypass',
    resumed: 'loaded',
  });
  const said = await place.backend.event('s1', 'agent_text');
  const calls = JSON.parse(said.text) as { method: string; params: { modeId?: string } }[];
  expect(calls.flatMap(({ params }) => params.modeId ?? [])).toEqual(['three']);
});

test('killed again and again while messages run: each message ends once, no event is lost or doubled', async () => {
  const place = await makePlace();
  let running = await place.run();
  await place.start('s1');
  const sent: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (let i = 0; i < 4; i += 1) {
      const messageId = `m${round}-${i}`;
      await place.deliver('s1', messageId, i === 2 ? 'sleep 0.2' : `say ${messageId}`);
      sent.push(messageId);
    }
    await sleep(Math.random() * 300);
    const pid = (await status(running.port)).sessions[0]?.pid;
    await running.kill('SIGKILL');
    running = await place.run();
    if (pid !== undefined) await groupIsGone(pid);
  }
  await place.backend.until(
    () =>
      sent.every((id) =>
        place.backend.events('s1').some((event) => event.type === 'turn_ended' && event.messageId === id),
      ),
    'every message to end',
  );
  const events = place.backend.events('s1');
  assertGapless(events);
  const begun = events.flatMap((event) => (event.type === 'user_message' ? [event.messageId] : []));
  const ended = events.flatMap((event) => (event.type === 'turn_ended' ? [event.messageId] : []));
  expect(begun).toEqual(sent);
  expect(ended).toEqual(sent);
  await vi.waitFor(async () => expect((await status(running.port)).outbox.events).toBe(0), 10_000);
});

test('suspended for longer than a link may be silent, it is online again soon', async () => {
  const place = await makePlace();
  const daemon = await place.run();
  daemon.child.kill('SIGSTOP');
  place.backend.drop();
  await sleep(500);
  daemon.child.kill('SIGCONT');
  await place.backend.until(() => place.backend.hellos.length === 2, 'a second hello');
  expect(place.backend.hellos[1]?.instanceId).toBe(place.backend.hellos[0]?.instanceId);
});

test('SIGTERM ends it and its agents, also one whose turn does not end', async () => {
  const place = await makePlace();
  const daemon = await place.run();
  await place.start('s1', 'deaf-to-cancel');
  await place.deliver('s1', 'm1', 'go');
  await place.backend.event('s1', 'agent_text');
  const pid = (await status(daemon.port)).sessions[0]?.pid as number;
  expect(await daemon.kill('SIGTERM')).toBe(0);
  await groupIsGone(pid, 0);
  expect(place.backend.events('s1').slice(-2)).toMatchObject([
    { type: 'turn_ended', outcome: 'canceled' },
    { type: 'session_stopped' },
  ]);
});
