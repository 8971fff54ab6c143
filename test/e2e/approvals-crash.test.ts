import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/core/session.ts';
import { isAlive, type Seen } from '../helpers/processes.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { createPatientClient, type PatientClient } from './helpers/torture-client.ts';

let world: World;
let client: PatientClient;
let sessionId: string;

beforeAll(async () => {
  world = await startWorld();
  client = createPatientClient(world.home);
  const directory = join(world.home, 'project');
  mkdirSync(directory);
  ({ sessionId } = await client.output('session.spawn_new', { agentId: 'demo', directory }));
  await client.output('policy.set', { path: 'session.message.send.mcp', value: 'ask' });
}, 90_000);

afterAll(() => world?.stop(), 60_000);

const ask = async (message: string, key?: string): Promise<string> => {
  const input = { sessionId, message, wait: true };
  const envelope = await client.call('session.message.send', input, { surface: 'mcp', ...(key && { key }) });
  if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
  return envelope.approval.artifactId;
};
const statusOf = async (artifactId: string): Promise<string> =>
  (await client.output('approval.request.get', { artifactId })).status;
const turnsOf = async (message: string): Promise<number> => {
  const { events } = await client.output('session.transcript.get', { sessionId, types: ['user_message'] });
  return (events as SessionEvent[]).filter((event) => event.type === 'user_message' && event.text === message)
    .length;
};

async function killBackend(): Promise<void> {
  const state = JSON.parse(readFileSync(join(world.home, 'backend/backend.json'), 'utf8')) as Seen;
  expect(isAlive(state)).toBe(true);
  process.kill(state.pid, 'SIGKILL');
  await expect.poll(() => isAlive(state)).toBe(false);
}

test('a backend that is killed between approval and outcome does not know it, and runs nothing again', async () => {
  const message = 'sleep 20';
  const artifactId = await ask(message);
  const decision = { artifactId, decision: 'approve' };
  // Asked again by itself while the backend is away, as any client in the field does.
  const decided = client.call('approval.request.decide', decision, { key: 'decided once' });
  await expect.poll(() => turnsOf(message), { timeout: 30_000 }).toBe(1);
  expect(await statusOf(artifactId)).toBe('executing');
  await killBackend();

  expect(await decided).toMatchObject({
    status: 'ok',
    output: { executed: false, approval: { status: 'unknown' } },
  });
  expect(await client.output('approval.request.decide', decision)).toMatchObject({
    executed: false,
    approval: { status: 'unknown' },
  });
  const opposite = await client.call('approval.request.decide', { ...decision, decision: 'deny' });
  expect(opposite).toMatchObject({ error: { code: 'approval_already_decided' } });

  await client.output('session.interrupt', { sessionId });
  const { idle } = await client.output('session.wait.idle', { sessionId, timeoutSeconds: 40 });
  expect({ idle, turns: await turnsOf(message), status: await statusOf(artifactId) }).toEqual({
    idle: true,
    turns: 1,
    status: 'unknown',
  });
  expect(await client.output('audit.verify')).toMatchObject({ intact: true });
}, 120_000);

test('what waits for a decision waits on after both were killed, and the same key finds it', async () => {
  const message = 'say still here';
  const artifactId = await ask(message, 'asked once');
  await killBackend();
  const { pid } = JSON.parse(readFileSync(join(world.home, 'profiles/local/daemon.json'), 'utf8')) as Seen;
  process.kill(pid, 'SIGKILL');
  expect(await statusOf(artifactId)).toBe('pending');
  expect(await ask(message, 'asked once')).toBe(artifactId);
  const online = async () => {
    const { machines } = await client.output('machines.list');
    return (machines as { online: boolean }[])[0]?.online;
  };
  await expect.poll(online, { timeout: 30_000 }).toBe(true);
  const { executed, result } = await client.output('approval.request.decide', {
    artifactId,
    decision: 'approve',
  });
  expect({ executed, result }).toMatchObject({ executed: true, result: { output: { reply: 'still here' } } });
  expect(await turnsOf(message)).toBe(1);
}, 120_000);
