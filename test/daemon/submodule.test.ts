import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld } from './helpers/world.ts';

const SETTINGS = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always'];
const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-C', directory, ...SETTINGS, ...args], { stdio: 'pipe' });

test('a worktree of a submodule stands beside the submodule, not among the files of git', async () => {
  const world = await createWorld();
  const home = realpathSync(world.home);
  for (const name of ['inner', 'outer']) {
    mkdirSync(join(home, name));
    git(join(home, name), 'init', '-q', '-b', 'main');
    git(join(home, name), 'commit', '-q', '--allow-empty', '-m', 'first');
  }
  git(join(home, 'outer'), 'submodule', '--quiet', 'add', '../inner', 'sub');
  const repository = join(home, 'outer/sub');
  for (const [sessionId, directory] of [
    ['s1', repository],
    ['s2', `${repository}.worktrees/s1`],
  ] as const) {
    await world.start(sessionId, 'demo', { directory, worktree: { branch: sessionId } });
    const path = `${repository}.worktrees/${sessionId}`;
    expect(await world.backend.event(sessionId, 'session_started')).toMatchObject({
      worktree: { path, repository },
    });
    expect(existsSync(join(path, '.git'))).toBe(true);
  }
  expect(await world.backend.request('session.archive', { sessionId: 's1' })).toEqual({
    worktree: 'removed',
  });
});
