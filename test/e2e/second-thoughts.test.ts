import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';

let world: World;
let api: Api;
let repository: string;

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  repository = join(world.home, 'project');
  mkdirSync(repository);
  writeFileSync(join(repository, 'README'), 'hello');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'first');
}, 90_000);
afterAll(() => world?.stop(), 60_000);

it('what a machine refuses to start leaves nothing that waits for a person', async () => {
  const asked = [
    { worktree: { branch: 'a..b' } },
    { worktree: { branch: 'a\u202eb' } },
    { worktree: { base: 'nowhere' } },
    { directory: join(repository, 'missing') },
    { additionalDirectories: ['relative'] },
    { environment: { NODE_OPTIONS: 'x' } },
    { modelId: 'no-such-model' },
  ];
  for (const more of asked) {
    const answer = await api.call('session.spawn_new', {
      agentId: 'demo',
      directory: repository,
      ...more,
    });
    if (answer.status !== 'error') throw new Error(`it was ${answer.status}`);
    const sessionId = answer.error.details?.['sessionId'];
    expect(await api.output('session.status.get', { sessionId })).toMatchObject({
      status: 'failed',
      reason: { code: answer.error.code },
    });
  }
  expect(await api.output('inbox.list')).toMatchObject({ items: [] });
  expect(await api.output('session.list')).toMatchObject({ sessions: [] });
});

it('a session taken out of the archive works on in its worktree', async () => {
  const { sessionId, directory } = await api.output('session.spawn_new', {
    agentId: 'demo',
    directory: repository,
    worktree: { branch: 'topic/one' },
  });
  expect(await api.output('session.archive', { sessionId })).toMatchObject({ worktree: 'removed' });
  expect(existsSync(directory)).toBe(false);
  const { paths } = await api.output('paths.list_recent');
  expect(paths.map(({ path }: { path: string }) => path)).not.toContain(directory);
  await api.output('session.unarchive', { sessionId });
  const sent = await api.output('session.message.send', { sessionId, message: 'ls', wait: true });
  expect(sent.reply).toContain('README');
  expect(await api.output('session.status.get', { sessionId })).toMatchObject({
    directory,
    worktree: { path: directory, branch: 'topic/one' },
  });
});
