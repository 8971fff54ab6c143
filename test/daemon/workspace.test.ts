import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld, fakeAgent, makeHome, type World } from './helpers/world.ts';

const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** A repository with one commit and a hook that would be noticed. */
function makeRepository(home: string): string {
  const repository = join(realpathSync(home), 'repo');
  mkdirSync(join(repository, 'packages/app'), { recursive: true });
  git(repository, 'init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'packages/app/file.txt'), 'one\n');
  git(repository, 'add', '.');
  git(repository, 'commit', '-qm', 'first');
  const hook = join(repository, '.git/hooks/post-checkout');
  mkdirSync(join(repository, '.git/hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ntouch ${home}/hook-ran\n`, { mode: 0o755 });
  return repository;
}

const branches = (repository: string) => git(repository, 'branch', '--format=%(refname:short)').split('\n');
const archive = (world: World, sessionId: string) => world.backend.request('session.archive', { sessionId });

test('a directory is made only when that is asked for', async () => {
  const world = await createWorld();
  const directory = join(world.home, 'new/deep');
  await expect(world.start('s1', 'demo', { directory })).rejects.toMatchObject({
    code: 'session_directory_unavailable',
    details: { reason: 'missing' },
  });
  await world.start('s2', 'demo', { directory, createDirectory: true });
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(await world.turn('s2', 'ls')).toMatchObject({ reply: 'The workspace is empty.' });
  writeFileSync(join(world.home, 'file'), '');
  await expect(
    world.start('s3', 'demo', { directory: join(world.home, 'file/x'), createDirectory: true }),
  ).rejects.toMatchObject({ details: { reason: 'not_a_directory' } });
  expect(await archive(world, 's2')).toEqual({ worktree: 'none' });
});

test('a start that is held to directories lies in them with all links followed, and makes nothing elsewhere', async () => {
  const world = await createWorld();
  const within = [join(world.home, 'own')];
  mkdirSync(join(world.home, 'own/deep'), { recursive: true });
  mkdirSync(join(world.home, 'other'));
  symlinkSync(join(world.home, 'other'), join(world.home, 'own/link'));
  symlinkSync(join(world.home, 'none'), join(world.home, 'own/dangling'));
  const inside = join(world.home, 'own/deep');
  for (const path of [
    'own/link',
    'own/link/new',
    'own/dangling',
    'own/link/../other',
    'own/.git/hooks',
    'own/../other',
  ]) {
    const directory = `${world.home}/${path}`;
    for (const wanted of [
      { directory, createDirectory: true },
      { directory: inside, additionalDirectories: [directory] },
    ]) {
      await expect(world.start('s1', 'demo', { ...wanted, within })).rejects.toMatchObject({
        code: 'permission_escalation_denied',
      });
    }
  }
  expect(readdirSync(join(world.home, 'other'))).toEqual([]);
  expect(existsSync(join(world.home, 'none'))).toBe(false);
  await world.start('s2', 'demo', { directory: inside, within });
  await world.start('s3', 'demo', { directory: join(world.home, 'own/new'), createDirectory: true, within });
});

test('~ is the home of the daemon’s user, and nobody else’s', async () => {
  const world = await createWorld();
  const more = join(world.home, 'more');
  mkdirSync(more);
  await world.start('s1', 'demo', { directory: '~/workspace', additionalDirectories: ['~', '~/more'] });
  expect(await world.backend.event('s1', 'session_started')).toMatchObject({ directory: world.workspace });
  expect((await world.turn('s1', 'ls')).reply).toContain(`${more}:`);
  await expect(world.start('s2', 'demo', { directory: '~root' })).rejects.toMatchObject({
    code: 'session_directory_unavailable',
    details: { directory: '~root', reason: 'not_absolute' },
  });
  await expect(
    world.start('s3', 'demo', { directory: '~/more', within: [world.workspace] }),
  ).rejects.toMatchObject({ code: 'permission_escalation_denied' });
});

test('a branch whose name does not show as it is is refused', async () => {
  const world = await createWorld();
  for (const branch of ['a\u202eb', 'a\u200bb', 'a\u0007b', 'a\tb'])
    await expect(world.start('s1', 'demo', { worktree: { branch } })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: 'worktree.branch' }] },
    });
});

test('additional directories are checked, and their variables reach the agent and nothing else', async () => {
  const world = await createWorld({ agents: [fakeAgent('resumes')] });
  const additional = join(world.home, 'more');
  mkdirSync(additional);
  await world.start('s1', 'demo', { additionalDirectories: [additional] });
  expect((await world.turn('s1', 'ls')).reply).toContain(`${additional}:`);
  await expect(
    world.start('s2', 'demo', { additionalDirectories: [join(world.home, 'none')] }),
  ).rejects.toMatchObject({ code: 'session_directory_unavailable', details: { reason: 'missing' } });

  const environment = { MY_KEY: 'a-secret-value', PATH: '/usr/bin:/bin' };
  await world.start('s3', 'resumes', { environment });
  expect(JSON.parse((await world.turn('s3', 'env')).reply)).toMatchObject(environment);

  // A proxy of the session's own is not shown the bearer of its tools either.
  await world.start('s5', 'resumes', { environment: { https_proxy: 'http://proxy:1', NO_PROXY: 'corp' } });
  expect(JSON.parse((await world.turn('s5', 'env')).reply)).toMatchObject({
    no_proxy: 'corp,127.0.0.1,localhost',
    NO_PROXY: 'corp,127.0.0.1,localhost',
  });
  await world.backend.request('session.stop', { sessionId: 's3' });
  expect(JSON.parse((await world.turn('s3', 'env')).reply)).toMatchObject(environment);

  // A proxy of the session's own is not shown the bearer of its tools either.
  await world.start('s5', 'resumes', { environment: { https_proxy: 'http://proxy:1', NO_PROXY: 'corp' } });
  expect(JSON.parse((await world.turn('s5', 'env')).reply)).toMatchObject({
    no_proxy: 'corp,127.0.0.1,localhost',
    NO_PROXY: 'corp,127.0.0.1,localhost',
  });
  const events = world.backend.events('s3').filter(({ type }) => type !== 'agent_text');
  expect(JSON.stringify([events, world.lines])).not.toContain('a-secret');

  for (const name of ['KAIWU_HOME', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'A-B', '1A', '']) {
    await expect(world.start('s4', 'resumes', { environment: { [name]: 'a-secret' } })).rejects.toMatchObject(
      {
        code: 'invalid_input',
        message: expect.not.stringContaining('a-secret'),
        details: { issues: [{ path: `environment.${name}` }] },
      },
    );
  }
  await expect(
    world.start('s4', 'resumes', { environment: { BIG: 'x'.repeat(70_000) } }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect(world.backend.events('s4')).toEqual([]);
});

test('a worktree beside the repository: the same folder of it, no hooks, its branch from the base', async () => {
  const world = await createWorld();
  const repository = makeRepository(world.home);
  const base = git(repository, 'rev-parse', 'HEAD');
  writeFileSync(join(repository, 'packages/app/file.txt'), 'two\n');
  git(repository, 'commit', '-qam', 'second');
  const directory = join(repository, 'packages/app');
  await world.start('s1', 'demo', { directory, worktree: { branch: 'feature/x', base: 'HEAD~1' } });
  const path = `${repository}.worktrees/feature/x`;
  expect(await world.backend.event('s1', 'session_started')).toMatchObject({
    directory: join(path, 'packages/app'),
    worktree: { path, branch: 'feature/x', repository },
  });
  expect(git(path, 'rev-parse', 'HEAD')).toBe(base);
  expect(await world.turn('s1', 'ls')).toMatchObject({ reply: 'file.txt' });
  expect(existsSync(join(world.home, 'hook-ran'))).toBe(false);
  // From inside the worktree of another session the place is the same.
  await world.start('s2', 'demo', { directory: path, worktree: { branch: 'other' } });
  expect(git(`${repository}.worktrees/other`, 'rev-parse', 'HEAD')).toBe(base);
  await world.start('s1', 'demo', { directory, worktree: { branch: 'feature/x' } });
});

test('what cannot be made is refused with the reason, and nothing is left of it', async () => {
  const world = await createWorld({ agents: [fakeAgent('exits')] });
  const repository = makeRepository(world.home);
  git(repository, 'branch', 'taken');
  const start = (sessionId: string, worktree: { branch: string; base?: string }, directory = repository) =>
    world.start(sessionId, 'demo', { directory, worktree });
  await expect(start('a', { branch: 'x' }, world.workspace)).rejects.toMatchObject({
    code: 'session_directory_unavailable',
    message: expect.stringContaining('not a git repository'),
    details: { reason: 'not_a_repository' },
  });
  await expect(start('b', { branch: 'taken' })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('the branch exists'),
  });
  await expect(start('c', { branch: 'main' })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`checked out at ${repository}`),
  });
  await expect(start('d', { branch: 'x', base: 'nonsense' })).rejects.toMatchObject({
    code: 'invalid_input',
    details: { issues: [{ path: 'worktree.base' }] },
  });
  for (const branch of ['../x', '-f', 'a b', 'HEAD', '@{-1}', 'a..b']) {
    await expect(start(`e${branch}`, { branch })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: 'worktree.branch' }] },
    });
  }
  await expect(
    world.start('f', 'exits', { directory: repository, worktree: { branch: 'gone/again' } }),
  ).rejects.toMatchObject({ code: 'agent_failed' });
  expect(branches(repository)).toEqual(['main', 'taken']);
  expect(existsSync(`${repository}.worktrees`)).toBe(false);
  // The name is free for whoever comes next.
  await start('g', { branch: 'gone/again' });
});

test('of sessions that want the same branch at once, one gets it and keeps it', async () => {
  const world = await createWorld();
  const repository = makeRepository(world.home);
  const more = { directory: repository, worktree: { branch: 'wanted' } };
  const ids = ['s1', 's2', 's3', 's4', 's5'];
  const results = await Promise.all(
    ids.map((id) =>
      world.start(id, 'demo', more).then(
        () => 'started',
        (error: { code: string }) => error.code,
      ),
    ),
  );
  expect(results.toSorted()).toEqual(['conflict', 'conflict', 'conflict', 'conflict', 'started']);
  const winner = ids[results.indexOf('started')] as string;
  expect((await world.turn(winner, 'ls')).reply).toContain('packages/');
});

test('archived, a worktree goes with its branch where nothing is lost, and stays where something would be', async () => {
  const world = await createWorld();
  const repository = makeRepository(world.home);
  const at = (branch: string) => `${repository}.worktrees/${branch}`;
  for (const branch of ['clean', 'dirty', 'ahead', 'merged', 'gone']) {
    await world.start(branch, 'demo', { directory: repository, worktree: { branch } });
  }
  writeFileSync(join(at('dirty'), 'new.txt'), '');
  for (const branch of ['ahead', 'merged']) {
    writeFileSync(join(at(branch), `${branch}.txt`), '');
    git(at(branch), 'add', '.');
    git(at(branch), 'commit', '-qm', branch);
  }
  git(repository, 'merge', '-q', 'merged');
  rmSync(at('gone'), { recursive: true });
  expect(await archive(world, 'clean')).toEqual({ worktree: 'removed' });
  expect(await archive(world, 'clean')).toEqual({ worktree: 'removed' });
  expect(await archive(world, 'merged')).toEqual({ worktree: 'removed' });
  expect(await archive(world, 'gone')).toEqual({ worktree: 'removed' });
  expect(await archive(world, 'dirty')).toMatchObject({
    worktree: 'kept',
    reason: expect.stringContaining('1 changed or new files'),
  });
  expect(await archive(world, 'ahead')).toMatchObject({
    worktree: 'kept',
    reason: expect.stringContaining('1 commits in it are on no other branch'),
  });
  expect(branches(repository).sort()).toEqual(['ahead', 'dirty', 'main']);
  expect(readdirSync(`${repository}.worktrees`).sort()).toEqual(['ahead', 'dirty']);
  expect(world.daemon.status().sessions).toEqual([]);
  // Once it is clean it goes.
  rmSync(join(at('dirty'), 'new.txt'));
  expect(await archive(world, 'dirty')).toEqual({ worktree: 'removed' });
});

test('a worktree in which another session works is kept; started again by its id, a session keeps its own', async () => {
  const home = makeHome();
  const world = await createWorld({ home });
  const repository = makeRepository(home);
  const more = { directory: repository, worktree: { branch: 'shared' } };
  await world.start('s1', 'demo', more);
  await world.start('s2', 'demo', { directory: join(`${repository}.worktrees/shared`, 'packages') });
  expect(await archive(world, 's1')).toMatchObject({
    worktree: 'kept',
    reason: expect.stringContaining('session s2 works in it'),
  });
  await world.backend.request('session.stop', { sessionId: 's2' });
  await world.start('s3', 'demo', { additionalDirectories: [`${repository}.worktrees/shared`] });
  expect(await archive(world, 's1')).toMatchObject({
    worktree: 'kept',
    reason: expect.stringContaining('session s3 works in it'),
  });
  await world.daemon.stop();
  const next = await createWorld({ home, backend: world.backend });
  await world.backend.until(() => world.backend.hellos.length === 2, 'a second hello');
  await next.start('s1', 'demo', more);
  expect(await next.turn('s1', '@ls')).toMatchObject({ reply: '.git\npackages/' });
});
