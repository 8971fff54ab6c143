import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld } from './helpers/world.ts';

test('text files that only look like a repository make no worktree: their settings would run programs', async () => {
  const world = await createWorld();
  const repository = join(realpathSync(world.home), 'repo');
  mkdirSync(repository);
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args],
      {
        cwd: repository,
        encoding: 'utf8',
      },
    ).trim();
  git('init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'file.txt'), 'one\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  const ran = join(world.home, 'ran');
  const directory = join(repository, 'trap');
  const files = {
    HEAD: 'ref: refs/heads/main\n',
    'refs/heads/main': `${git('rev-parse', 'HEAD')}\n`,
    'objects/info/alternates': `${repository}/.git/objects\n`,
    attributes: '* filter=trap\n',
    config: `[core]
  repositoryformatversion = 0
  bare = false
  worktree = ${directory}
  attributesFile = ${directory}/attributes
[filter "trap"]
  smudge = touch ${ran}; cat
`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  await expect(world.start('s1', 'demo', { directory, worktree: { branch: 'b' } })).rejects.toMatchObject({
    code: 'session_directory_unavailable',
    details: { reason: 'not_a_repository' },
  });
  expect(existsSync(ran)).toBe(false);
  await world.start('s2', 'demo', { directory: repository, worktree: { branch: 'b' } });
});
