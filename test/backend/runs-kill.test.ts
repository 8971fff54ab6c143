import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BackendProcess, startBackend } from './helpers/backend-process.ts';
import { createFakeDaemon, type FakeDaemon, type FakeDaemonOptions } from './helpers/fake-daemon.ts';
import type { Json } from './helpers/json.ts';
import { fenced, newestMessage, PLAN, TARGET } from './helpers/runs.ts';

let folder: string;
let backend: BackendProcess;
let token: string;
let daemon: FakeDaemon;
let options: Partial<FakeDaemonOptions>;
let parent: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-runs-'));
  options = { reply: () => undefined };
  backend = await startBackend(join(folder, 'kaiwu.db'));
  token = await backend.signIn();
  daemon = createFakeDaemon({
    ...options,
    token,
    url: backend.url,
    before: (...of) => options.before?.(...of),
  });
  await daemon.connect();
  ({ sessionId: parent } = await ok('session.spawn_new', { agentId: 'demo', directory: '/tmp' }));
});
afterEach(async () => {
  daemon.end();
  await backend.kill();
  await rm(folder, { recursive: true, force: true });
});

const ok = (actionId: string, input: object = {}) => backend.ok(token, actionId, input);
const start = async (more: object = {}): Promise<string> => {
  const input = { sessionId: parent, intent: 'plan', backendTarget: TARGET, instructions: 'x', ...more };
  return (await ok('execution.run.start', input)).runId;
};
const run = (runId: string) => ok('execution.run.get', { runId });

/** The agent has been told what the run is. */
async function atWork(runId: string): Promise<string> {
  for (;;) {
    const { events } = await ok('execution.run.stream.read', { runId, limit: 200 });
    if (events.some((event: Json) => event.type === 'agent_text')) return (await run(runId)).runSessionId;
  }
}

/** The agent ends its turn; the daemon keeps that while there is no backend. */
async function finish(runSessionId: string, reply: string): Promise<void> {
  const messageId = newestMessage(daemon, runSessionId);
  await daemon.record(
    runSessionId,
    { type: 'agent_text', messageId, block: 2, text: reply },
    { type: 'turn_ended', messageId, outcome: 'completed' },
  );
}

async function killAndRestart(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
  await backend.kill();
  await meanwhile();
  backend = await startBackend(join(folder, 'kaiwu.db'));
  const again = createFakeDaemon({ ...options, token, url: backend.url, instanceId: 'instance-1' });
  for (const [id, session] of daemon.sessions) again.sessions.set(id, session);
  daemon.end();
  daemon = again;
  await daemon.connect();
}

const succeeds = async (runId: string) =>
  expect(await ok('execution.run.wait', { runId, timeoutSeconds: 60 })).toMatchObject({
    status: 'succeeded',
    result: PLAN,
  });

/** What each session of a run was told; one run, one session. */
async function told(): Promise<string[][]> {
  const { sessions } = await ok('session.list', { below: parent, archived: 'include' });
  return sessions.map(({ sessionId }: Json) =>
    (daemon.sessions.get(sessionId)?.messages ?? []).map(({ text }) => text.slice(0, 13)),
  );
}

it('queued and running runs go on where they were, and what ended meanwhile has ended', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await start());
  const sessions = await Promise.all(ids.slice(0, 4).map(atWork));
  await killAndRestart(() => finish(sessions[0] as string, fenced(PLAN)));
  await succeeds(ids[0] as string);
  const last = await atWork(ids[4] as string);
  for (const session of [...sessions.slice(1), last]) await finish(session, fenced(PLAN));
  for (const id of ids) await succeeds(id);
  expect(await told()).toEqual(ids.map(() => ['You are asked']));
}, 60_000);

it('a start that was never answered is the same start, and a message that was never acknowledged the same message', async () => {
  const heard = new Promise<void>((resolve) => {
    options.before = async (method) => {
      if (method !== 'session.start') return;
      resolve();
      await new Promise(() => {});
    };
  });
  const runId = await start();
  await heard;
  options = {
    reply: () => fenced(PLAN),
    async after(method) {
      if (method === 'session.deliver') await new Promise(() => {});
    },
  };
  await killAndRestart();
  await succeeds(runId);
  await killAndRestart();
  await succeeds(runId);
  expect(await told()).toEqual([['You are asked']]);
}, 60_000);

it('asked once more for its shape, it is not asked again', async () => {
  const runId = await start();
  const session = await atWork(runId);
  await finish(session, 'Words.');
  while ((await told())[0]?.length !== 2) await ok('execution.run.wait', { runId, timeoutSeconds: 1 });
  await killAndRestart();
  await finish(session, 'Other words.');
  const { status, rawText } = await ok('execution.run.wait', { runId, timeoutSeconds: 60 });
  expect({ status, rawText }).toEqual({ status: 'succeeded', rawText: 'Other words.' });
  expect(await told()).toEqual([['You are asked', 'Your answer c']]);
}, 60_000);

it('a run whose time is over meanwhile is timed out, and its session stopped once the machine is back', async () => {
  const runId = await start({ timeoutSeconds: 1 });
  const session = await atWork(runId);
  const { startedAt } = await run(runId);
  await killAndRestart(async () => {
    while (Date.now() < Date.parse(startedAt) + 1000) await new Promise((r) => setTimeout(r, 50));
  });
  expect(await ok('execution.run.wait', { runId })).toMatchObject({ status: 'timed_out' });
  await ok('execution.run.stop', { runId });
  const stops = daemon.requests.filter(({ method }) => method === 'session.stop');
  expect(stops.map(({ params }) => params.sessionId)).toContain(session);
}, 60_000);

it('a voice agent that waits for its next turn still does, and takes it', async () => {
  const runId = await start({ intent: 'voice_agent' });
  await finish(await atWork(runId), fenced({ spoken: 'Hello.' }));
  expect(await ok('execution.run.wait', { runId })).toMatchObject({ result: { spoken: 'Hello.' } });
  options = { reply: () => fenced({ spoken: 'It is green.' }) };
  await killAndRestart();
  const sent = await ok('execution.run.send', { runId, message: 'Is it green?', wait: true });
  expect(sent).toMatchObject({ status: 'running', messageStatus: 'completed', reply: 'It is green.' });
  expect(await told()).toEqual([['You are talki', 'Is it green?']]);
}, 60_000);
