import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive, type Seen } from '../helpers/processes.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { createPatientClient, type PatientClient } from './helpers/torture-client.ts';

let world: World;
let client: PatientClient;
let directory: string;

beforeAll(async () => {
  world = await startWorld();
  client = createPatientClient(world.home);
  directory = join(world.home, 'project');
  mkdirSync(directory);
}, 90_000);

afterAll(() => world?.stop(), 60_000);

const spawnNew = async (more: Record<string, unknown> = {}): Promise<string> =>
  (await client.output('session.spawn_new', { agentId: 'demo', directory, ...more })).sessionId;

const sessionOf = (sessionId: string) => client.output('session.status.get', { sessionId });

async function killDaemon(): Promise<void> {
  const state = JSON.parse(readFileSync(join(world.home, 'profiles/local/daemon.json'), 'utf8')) as Seen;
  process.kill(state.pid, 'SIGKILL');
  await expect.poll(() => isAlive(state)).toBe(false);
}

test('what an agent waits for is still there after its daemon was killed, and the answer reaches its turn', async () => {
  const sessionId = await spawnNew();
  const asked = { sessionId, message: 'ask to dance', messageId: 'to-dance', wait: true };
  const waiting = await client.output('session.message.send', asked);
  expect(waiting).toMatchObject({
    status: 'running',
    waitingFor: { kind: 'permission', title: 'to dance', options: expect.any(Array) },
  });
  expect(waiting).not.toHaveProperty('timedOut');
  const { requestId } = waiting.waitingFor as { requestId: string };
  await killDaemon();
  const isAway = async () => (await sessionOf(sessionId)).machineOfflineSince !== undefined;
  await expect.poll(isAway, { timeout: 30_000 }).toBe(false);
  expect(await sessionOf(sessionId)).toMatchObject({ status: 'waiting', permission: { requestId } });
  await client.output('session.permission.respond', { sessionId, requestId, decision: 'allow' });
  await client.output('session.wait.idle', { sessionId });
  expect(await client.output('session.message.send', asked)).toMatchObject({
    status: 'completed',
    reply: expect.stringMatching(/restarted while you waited for the permission "to dance".*allowed/s),
  });
}, 120_000);

test('a message put into a turn has the reply of that turn', async () => {
  const sessionId = await spawnNew();
  const first = client.output('session.message.send', { sessionId, message: 'sleep 4', wait: true });
  await expect.poll(async () => (await sessionOf(sessionId)).status).toBe('running');
  const second = await client.output('session.message.send', {
    sessionId,
    message: 'left',
    delivery: 'steer',
    wait: true,
  });
  const { reply } = await first;
  expect(reply).toContain('heard left');
  expect(second).toMatchObject({ status: 'completed', reply });
}, 60_000);

test('a session in a worktree of its own, which goes with it', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', directory, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args]);
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const sessionId = await spawnNew({ worktree: { branch: 'work' }, environment: { STAGE: 'test' } });
  const { worktree, environmentNames } = await sessionOf(sessionId);
  expect(worktree).toMatchObject({ branch: 'work' });
  expect(environmentNames).toEqual(['STAGE']);
  expect(existsSync(join(worktree.path, '.git'))).toBe(true);
  expect(await client.output('session.archive', { sessionId })).toMatchObject({ worktree: 'removed' });
  expect(existsSync(worktree.path)).toBe(false);
}, 60_000);
