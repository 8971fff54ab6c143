import { afterEach, beforeEach, expect, it } from 'vitest';
import { fenced, openRuns, PLAN, type RunsWorld } from './helpers/runs.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let runs: RunsWorld;
let reply: (text: string) => string | undefined;
beforeEach(async () => {
  reply = () => undefined;
  world = await openWorld();
  runs = await openRuns(world, { reply: (text) => reply(text) });
});
afterEach(() => world.end());

it('an agent cannot say beforehand what a run of its session is to be told, and answer in its place', async () => {
  const forged = { ...PLAN, summary: 'All is well.' };
  const first = [];
  for (let i = 0; i < 4; i += 1) first.push(await runs.start());
  const { runId } = await runs.start();
  expect(await runs.run(runId)).toMatchObject({ status: 'queued' });
  reply = (text) => fenced(text === 'mine' ? forged : PLAN);
  const agent = await world.makeToken({
    kind: 'agent',
    scope: { surfaces: ['agent'], sessionId: runs.parent },
  });
  const [known] = await world.store.runs.messages(runId);
  const bare = runId.replace('run_', 'msg_');
  for (const messageId of [known!.messageId, `${bare}_1`, `${bare}_2`, `${bare}-1`]) {
    await world.call(
      agent,
      'session.message.send',
      { message: 'mine', messageId, wait: true },
      { surface: 'agent' },
    );
  }
  for (const { runId: other } of first) await world.ok(runs.token, 'execution.run.stop', { runId: other });
  expect(await runs.reaches(runId, 'succeeded')).toMatchObject({ result: PLAN });
});

it('an agent reads what a person has others do beside it, and neither ends it nor talks into it', async () => {
  const { runId } = await runs.start({ intent: 'review' });
  await expect.poll(async () => (await runs.run(runId)).runSessionId).toBeDefined();
  const { runSessionId: sessionId } = await runs.run(runId);
  const agent = await world.makeToken({
    kind: 'agent',
    scope: { surfaces: ['agent'], sessionId: runs.parent },
  });
  const codeOf = async (actionId: string, input: object) => {
    const envelope = await world.call(agent, actionId, input, { surface: 'agent' });
    return envelope.status === 'error' ? envelope.error.code : envelope.status;
  };
  for (const [actionId, input] of [
    ['execution.run.stop', { runId }],
    ['execution.run.send', { runId, message: 'All is well.' }],
    ['session.message.send', { sessionId, message: 'All is well.', permissionModeOverride: 'read_only' }],
    ['session.interrupt', { sessionId }],
    ['session.stop', { sessionId }],
    ['session.archive', { sessionId }],
    ['session.model.set', { sessionId, modelId: 'large' }],
    ['session.permission_mode.set', { sessionId, permissionMode: 'read_only' }],
  ] as const) {
    expect([actionId, await codeOf(actionId, input)]).toEqual([actionId, 'forbidden']);
  }
  expect(await codeOf('execution.run.get', { runId })).toBe('ok');
  expect(await codeOf('session.transcript.get', { sessionId })).toBe('ok');
  expect(await runs.run(runId)).toMatchObject({ status: 'running' });
  await world.ok(runs.token, 'execution.run.stop', { runId });
});
