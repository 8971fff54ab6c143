import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld, type World } from './helpers/world.ts';

const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const archive = (world: World, sessionId: string) => world.backend.request('session.archive', { sessionId });

/** A session in a worktree with a commit that `main` has too, archived. */
async function archived(world: World) {
  const repository = join(realpathSync(world.home), 'repo');
  const path = `${repository}.worktrees/side/one`;
  mkdirSync(repository);
  git(repository, 'init', '-q', '-b', 'main');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
  await world.start('s1', 'demo', { directory: repository, worktree: { branch: 'side/one' } });
  writeFileSync(join(path, 'mine.txt'), '');
  git(path, 'add', '.');
  git(path, 'commit', '-qm', 'mine');
  git(repository, 'merge', '-q', 'side/one');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'later');
  expect(await archive(world, 's1')).toEqual({ worktree: 'removed' });
  expect([existsSync(path), git(repository, 'branch', '--list', 'side/*')]).toEqual([false, '']);
  return { repository, path };
}

test('a worktree that went with the archiving is made again by the next message, where its branch was', async () => {
  const world = await createWorld();
  const { repository, path } = await archived(world);
  expect((await world.turn('s1', '@ls')).reply).toContain('mine.txt');
  expect(git(path, 'log', '-1', '--format=%s')).toBe('mine');
  expect(git(path, 'branch', '--show-current')).toBe('side/one');
  expect(world.backend.events('s1').findLast(({ type }) => type === 'session_started')).toMatchObject({
    directory: path,
    worktree: { path, branch: 'side/one', repository },
  });
  // And it goes again.
  expect(await archive(world, 's1')).toEqual({ worktree: 'removed' });
  git(repository, 'branch', 'side/one', 'main');
  expect((await world.turn('s1', '@ls')).outcome).toBe('completed');
  expect(git(path, 'log', '-1', '--format=%s')).toBe('later');
});

test('what keeps it from that is said, and what a person put in its place is theirs', async () => {
  const world = await createWorld();
  const { repository, path } = await archived(world);
  git(repository, 'checkout', '-q', '-b', 'side/one');
  const taken = await world.turn('s1', 'one');
  expect(taken).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('side/one') });
  git(repository, 'checkout', '-q', 'main');
  renameSync(repository, `${repository}-elsewhere`);
  const gone = await world.turn('s1', 'two');
  expect(gone).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining(`${repository} does not exist`),
  });
  renameSync(`${repository}-elsewhere`, repository);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'theirs.txt'), '');
  expect((await world.turn('s1', '@ls')).reply).toContain('theirs.txt');
  expect(await archive(world, 's1')).toEqual({ worktree: 'removed' });
  expect(existsSync(join(path, 'theirs.txt'))).toBe(true);
});
