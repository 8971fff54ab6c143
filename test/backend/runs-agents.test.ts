import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import { MAX_SESSION_DEPTH } from '../../src/core/session.ts';
import { demoAgent } from './helpers/fake-daemon.ts';
import type { Json } from './helpers/json.ts';
import { fenced, newestMessage, openRuns, PLAN, type RunsWorld, TARGET } from './helpers/runs.ts';
import { until } from './helpers/until.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';

let world: World;
let runs: RunsWorld;
/** What the agent answers; undefined holds the turn. */
let reply: (text: string) => string | undefined;
let onRequest: (method: string) => void;

beforeEach(async () => {
  reply = () => fenced(PLAN);
  onRequest = () => {};
  world = await openWorld();
  runs = await openRuns(world, {
    reply: (text) => reply(text),
    before: (method) => onRequest(method),
    agents: [
      { ...demoAgent, permissionModes: ['default', 'plan', 'read_only', 'accept_edits', 'bypass'] },
      { ...demoAgent, agentId: 'planner', permissionModes: ['default', 'plan'] },
    ],
  });
});
afterEach(() => world.end());

const ok = (actionId: string, input: Json) => world.ok(runs.token, actionId, input);
const setMode = (permissionMode: string) =>
  ok('session.permission_mode.set', { sessionId: runs.parent, permissionMode });
const modeOf = async (runId: string) =>
  (await world.store.sessions.get((await runs.reaches(runId, 'succeeded')).runSessionId)).permissionMode;

describe('the mode of a run', () => {
  it('is read_only for what only looks and the parent’s for work, unless a person names another', async () => {
    await setMode('accept_edits');
    reply = () => fenced({ ...PLAN, findings: [], changedFiles: [], spoken: 'x' });
    for (const [intent, mode] of [
      ['plan', 'read_only'],
      ['review', 'read_only'],
      ['delegate', 'accept_edits'],
    ]) {
      expect([intent, await modeOf((await runs.start({ intent })).runId)]).toEqual([intent, mode]);
    }
    expect(await modeOf((await runs.start({ permissionMode: 'bypass' })).runId)).toBe('bypass');
  });
});

describe('what an agent asks for', () => {
  let agentToken: string;
  const call = (actionId: string, input: Json, token = agentToken) =>
    world.call(token, actionId, input, { surface: 'agent' });
  const start = (more: Json = {}) =>
    call('subagents.plan.start', { backendTarget: TARGET, instructions: 'Plan it.', ...more });
  beforeEach(async () => {
    agentToken = await world.makeToken({
      kind: 'agent',
      scope: { surfaces: ['agent'], sessionId: runs.parent },
    });
  });

  it('is a run of its own session, which it can follow, and a child in the tree', async () => {
    const started: Json = await start({ waitForCompletion: true });
    expect(started).toMatchObject({ status: 'ok', output: { status: 'succeeded', result: PLAN } });
    const { runId } = started.output;
    expect(await call('execution.run.get', { runId })).toMatchObject({ status: 'ok' });
    expect(await call('execution.run.list', {})).toMatchObject({ output: { runs: [{ runId }] } });
    const { runSessionId } = await runs.run(runId);
    const lineage = await world.store.sessions.lineage(runSessionId);
    expect(lineage.map(({ sessionId }) => sessionId)).toEqual([runs.parent, runSessionId]);
  });

  it('is no freer than its own session, whether named or by what the agent lacks', async () => {
    expect(errorOf(await start({ permissionMode: 'bypass' })).code).toBe('permission_escalation_denied');
    await setMode('read_only');
    const target = { kind: 'builtInAgent', agentId: 'planner' };
    expect(await start({ backendTarget: target })).toMatchObject({
      output: { status: 'failed', runs: [{ reason: { code: 'permission_escalation_denied' } }] },
    });
    expect(await start()).toMatchObject({ status: 'ok' });
    expect(await call('execution.run.list', {})).toMatchObject({ output: { runs: [{}, {}] } });
  });

  it('is held to the agent’s own mode, also in a freer session below it', async () => {
    const child: Json = await call('session.spawn_new', { agentId: 'demo', directory: '/work/place' });
    const { sessionId } = child.output;
    await ok('session.permission_mode.set', { sessionId, permissionMode: 'bypass' });
    const delegate = { sessionId, backendTarget: TARGET, instructions: 'x', intent: 'delegate' };
    const { reason } = ((await call('execution.run.start', delegate)) as Json).output.runs[0];
    expect(reason.code).toBe('permission_escalation_denied');
    const started: Json = await call('execution.run.start', { ...delegate, permissionMode: 'default' });
    expect(started).toMatchObject({ status: 'ok' });
    const { runSessionId } = await runs.reaches(started.output.runId, 'succeeded');
    const lineage = await world.store.sessions.lineage(runSessionId);
    expect(lineage.map((session) => session.sessionId)).toEqual([runs.parent, sessionId, runSessionId]);
  });

  it('does not reach the runs of another session', async () => {
    const other = await ok('session.spawn_new', { agentId: 'demo', directory: '/other' });
    const { runId } = await runs.start({ sessionId: other.sessionId });
    for (const actionId of ['execution.run.get', 'execution.run.wait', 'execution.run.stop'])
      expect(errorOf(await call(actionId, { runId })).code).toBe('not_found');
    expect(errorOf(await call('execution.run.send', { runId, message: 'x' })).code).toBe('not_found');
    expect(await call('execution.run.list', {})).toMatchObject({ output: { runs: [] } });
  });
});

describe('a voice agent', () => {
  const voice = { intent: 'voice_agent', waitForCompletion: true };
  const send = (runId: string, message: string) => ok('execution.run.send', { runId, message, wait: true });

  it('takes turns in short spoken form until it is stopped', async () => {
    reply = (text) =>
      text === 'And now?' ? '# Now\n\nAll is **green**.' : fenced({ spoken: 'Hello there.' });
    const started = await runs.start(voice);
    expect(started).toMatchObject({ status: 'running', result: { spoken: 'Hello there.' } });
    const { runId } = started;
    expect(await send(runId, 'Hi')).toMatchObject({ status: 'running', reply: 'Hello there.' });
    const second = await send(runId, 'And now?');
    expect(second).toMatchObject({ reply: 'Now All is green.', result: { spoken: 'Now All is green.' } });
    expect(await ok('execution.run.stop', { runId })).toMatchObject({ status: 'cancelled' });
    expect(await send(runId, 'Still there?')).toMatchObject({ status: 'running', reply: 'Hello there.' });
    await ok('execution.run.stop', { runId });
  });

  it('stays when a turn is broken off, and fails when its agent does', async () => {
    const { runId } = await runs.start(voice);
    reply = () => undefined;
    const pending = send(runId, 'Count to a thousand');
    const { runSessionId } = await runs.run(runId);
    while (runs.daemon.sessions.get(runSessionId)?.messages.length !== 2) {
      const { lastSeq } = await ok('execution.run.stream.read', { runId });
      await ok('execution.run.stream.read', { runId, after: lastSeq });
    }
    await ok('session.interrupt', { sessionId: runSessionId });
    expect(await pending).toMatchObject({ status: 'running', messageStatus: 'canceled' });
    const next = send(runId, 'Once more');
    const reason = { code: 'agent_failed', message: 'it crashed' };
    while (runs.daemon.sessions.get(runSessionId)?.messages.length !== 3) await runs.run(runId);
    const messageId = newestMessage(runs.daemon, runSessionId);
    await runs.daemon.record(
      runSessionId,
      { type: 'turn_ended', messageId, outcome: 'failed', reason },
      { type: 'session_failed', reason },
    );
    expect(await next).toMatchObject({ status: 'failed', reason });
  });
});

describe('a session that does not start', () => {
  it('is a run that failed, with the reason and the next step; a message tries again', async () => {
    onRequest = (method) => {
      if (method !== 'session.start') return;
      throw new KaiwuError('agent_needs_setup', 'Nobody is signed in.', { hint: 'Run `demo login`.' });
    };
    const { runs: all } = await runs.start({ waitForCompletion: true });
    const reason = { code: 'agent_needs_setup', message: 'Nobody is signed in.', hint: 'Run `demo login`.' };
    expect(all).toMatchObject([{ status: 'failed', reason }]);
    onRequest = () => {};
    const { runId } = all[0];
    const again = await ok('execution.run.send', { runId, message: 'Now I am.', wait: true });
    expect(again).toMatchObject({ status: 'succeeded', result: PLAN });
    const { runSessionId } = await runs.run(runId);
    const told = runs.daemon.sessions.get(runSessionId)?.messages.map(({ text }) => text.slice(0, 7));
    expect(told).toEqual(['You are', 'Now I a']);
  });

  it('because it would be too deep names that', async () => {
    for (let parentSessionId = runs.parent, depth = 1; depth <= MAX_SESSION_DEPTH; depth++) {
      const sessionId = `sess_deep${depth}`;
      const { machineId } = await world.store.sessions.get(runs.parent);
      const place = {
        machineId,
        agentId: 'demo',
        directory: '/work/place',
        permissionMode: 'default',
      } as const;
      await world.store.sessions.insert({ sessionId, parentSessionId, ...place });
      parentSessionId = sessionId;
    }
    const deepest = { sessionId: `sess_deep${MAX_SESSION_DEPTH}`, waitForCompletion: true };
    expect((await runs.start(deepest)).runs).toMatchObject([
      { status: 'failed', reason: { code: 'session_too_deep' } },
    ]);
  });
});

describe('a machine that is away', () => {
  it('starts nothing, and says so', async () => {
    const offline = until(world.store.feed, (entry) => entry.type === 'machine.changed' && !entry.online);
    await runs.daemon.drop();
    await offline;
    const { runs: all } = await runs.start({ backendTarget: undefined, backendTargets: [TARGET, TARGET] });
    expect(all.map((run: Json) => [run.status, run.reason.code])).toEqual([
      ['failed', 'machine_offline'],
      ['failed', 'machine_offline'],
    ]);
  });

  it('keeps no run from ending; its session is stopped when the machine is back', async () => {
    reply = () => undefined;
    const { runId } = await runs.start();
    const { runSessionId } = await runs.run(runId);
    await ok('execution.run.stream.read', { runId });
    await runs.daemon.drop();
    expect(await ok('execution.run.stop', { runId })).toMatchObject({ status: 'cancelled' });
    const [run] = await world.store.runs.unfinished();
    expect(run).toMatchObject({ runId, stopDue: true });
    const stopped = runs.reaches(runId, 'cancelled');
    await runs.daemon.connect();
    await stopped;
    await expect.poll(async () => world.store.runs.unfinished()).toEqual([]);
    const { status } = await world.store.sessions.get((await runs.run(runId)).runSessionId ?? runSessionId);
    expect(status).toBe('stopped');
  });
});
