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
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'first');
}, 90_000);
afterAll(() => world?.stop(), 60_000);

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
const spawn = (more: object = {}) =>
  api.output('session.spawn_new', { agentId: 'demo', directory: repository, ...more });
const send = (sessionId: string, message: string, more: object = {}) =>
  api.output('session.message.send', { sessionId, message, ...more });
const status = (sessionId: string) => api.output('session.status.get', { sessionId });
const until = (sessionId: string, state: string) =>
  expect.poll(async () => (await status(sessionId)).status, { timeout: 30_000, interval: 50 }).toBe(state);

it('a session works in a worktree of its own, which goes with it when nothing in it would be lost', async () => {
  const { sessionId, worktree, directory } = await spawn({ title: 'Fix it', worktree: {}, tags: ['life'] });
  expect(worktree).toMatchObject({
    repository,
    branch: expect.stringMatching(/^kaiwu\/fix-it-[a-z0-9]{4}$/),
  });
  expect(directory).toBe(worktree.path);
  expect((await send(sessionId, 'ls', { wait: true })).reply).toContain('README');
  const { sessions } = await api.output('session.list', { tag: 'life' });
  expect(sessions).toMatchObject([{ sessionId }]);

  const dirty = await spawn({ worktree: { branch: 'topic/dirty', base: 'main' } });
  writeFileSync(join(dirty.directory, 'new'), 'x');
  expect(await api.output('session.archive', { sessionId: dirty.sessionId })).toMatchObject({
    worktree: 'kept',
    worktreeReason: expect.stringContaining('not committed'),
  });
  expect(existsSync(dirty.directory)).toBe(true);
  expect(await api.output('session.archive', { sessionId })).toMatchObject({ worktree: 'removed' });
  expect(existsSync(directory)).toBe(false);
  expect(git('branch', '--list', worktree.branch)).toBe('');
});

it('a directory is made when asked for, and only then', async () => {
  const directory = join(world.home, 'made', 'here');
  const refused = await api.call('session.spawn_new', { agentId: 'demo', directory });
  expect(refused).toMatchObject({ error: { code: 'session_directory_unavailable' } });
  await spawn({ directory, createDirectory: true });
  expect(existsSync(directory)).toBe(true);
});

it('a turn is steered, interrupted for another message, and asked in', async () => {
  const { sessionId } = await spawn();
  const asleep = await send(sessionId, 'sleep 600');
  await until(sessionId, 'running');
  const first = await send(sessionId, 'wake up', { delivery: 'steer' });
  await until(sessionId, 'running');
  const next = await send(sessionId, 'say first', { delivery: 'interrupt', wait: true });
  expect(next).toMatchObject({ status: 'completed', reply: 'first' });
  const messages = await api.output('session.transcript.get', { sessionId, limit: 200 });
  const said = messages.events.filter(({ type }: { type: string }) => type === 'user_message');
  expect(said).toMatchObject([
    { messageId: asleep.messageId },
    { messageId: first.messageId, steered: asleep.messageId },
    { messageId: next.messageId },
  ]);
});

it('a question is answered from the command line, out of the inbox', async () => {
  const { sessionId } = await spawn({ title: 'Curious' });
  const asked = await send(sessionId, 'question Which colour?');
  await until(sessionId, 'waiting');
  const { stdout } = await world.cli(['inbox']);
  expect(stdout).toContain('Which colour?');
  const { items } = await api.output('inbox.list', { kind: 'question' });
  expect(items).toMatchObject([
    { sessionId, lineage: [{ sessionId, title: 'Curious' }], question: { fields: [{ name: 'answer' }] } },
  ]);
  const answer = ['session', 'user-action', 'answer', sessionId, 'accept'];
  const wrong = await world.cli([...answer, '--content={"answr":"blue"}', '--json']);
  expect(wrong.json).toMatchObject({ error: { code: 'invalid_input' } });
  expect((await world.cli([...answer, '--content={"answer":"blue"}'])).code).toBe(0);
  await until(sessionId, 'idle');
  expect((await api.output('inbox.list', { kind: 'question' })).items).toEqual([]);
  const { events } = await api.output('session.transcript.get', { sessionId });
  expect(JSON.stringify(events)).toContain('"text":"blue"');
  expect(asked.status).not.toBe('failed');
});

it('a conversation goes on in a second session', async () => {
  const { sessionId } = await spawn();
  await send(sessionId, 'say once', { wait: true });
  const fork = await api.output('session.fork', { sessionId, title: 'Other way' });
  expect(fork).toMatchObject({ forkedFrom: { sessionId }, title: 'Other way' });
  expect((await send(fork.sessionId, 'recall', { wait: true })).reply).toContain('say once');
});

it('a setting of the agent is changed while it lives', async () => {
  const { sessionId } = await spawn();
  await api.output('session.config_option.set', { sessionId, configId: 'effort', value: 'high' });
  const { options } = await api.output('session.config_option.list', { sessionId });
  expect(options).toMatchObject([{ configId: 'effort', value: 'high' }]);
});
