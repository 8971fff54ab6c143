import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { demoAgent } from './helpers/fake-daemon.ts';
import type { Json } from './helpers/json.ts';
import { fenced, newestMessage, openRuns, PLAN, type RunsWorld, TARGET } from './helpers/runs.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';

let world: World;
let runs: RunsWorld;
/** What the agent answers; undefined holds the turn. */
let reply: (text: string) => string | undefined;
let onRequest: (method: string) => Promise<void> | undefined;

beforeEach(async () => {
  reply = () => fenced(PLAN);
  onRequest = () => undefined;
  world = await openWorld();
  runs = await openRuns(world, {
    reply: (text) => reply(text),
    before: (method) => onRequest(method),
    agents: [
      demoAgent,
      { ...demoAgent, agentId: 'planner', permissionModes: ['default', 'plan'] },
      { ...demoAgent, agentId: 'loose', permissionModes: ['default', 'bypass'] },
      { ...demoAgent, agentId: 'mine', source: 'added' },
      { ...demoAgent, agentId: 'absent', available: false, reason: 'it is not installed' },
    ],
  });
});
afterEach(() => world.end());

const wait = { waitForCompletion: true };
const targets = (...agentIds: string[]) => ({
  backendTarget: undefined,
  backendTargets: agentIds.map((agentId) => ({ kind: 'builtInAgent', agentId })),
});
const fail = async (input: object, context: object = {}) =>
  errorOf(
    await world.call(
      runs.token,
      'execution.run.start',
      { sessionId: runs.parent, intent: 'plan', instructions: 'Plan it.', backendTarget: TARGET, ...input },
      context,
    ),
  );

describe('a run', () => {
  it('works in a session of its own beside its parent, and leaves it stopped', async () => {
    const started = await runs.start({ ...wait, modelId: 'small' });
    expect(started).toMatchObject({ status: 'succeeded', result: PLAN, runs: [{ backendTarget: TARGET }] });
    const run = await runs.reaches(started.runId, 'succeeded');
    expect(run).toMatchObject({ sessionId: runs.parent, promptVersion: 1, permissionMode: 'read_only' });
    const session = await world.ok(runs.token, 'session.wait.idle', { sessionId: run.runSessionId });
    expect(session).toMatchObject({ idle: true });
    await world.ok(runs.token, 'execution.run.stop', { runId: run.runId });
    expect(await world.store.sessions.get(run.runSessionId)).toMatchObject({
      status: 'stopped',
      directory: '/work/place',
      modelId: 'small',
      parentSessionId: runs.parent,
      depth: 1,
      runId: run.runId,
      tags: ['run', 'plan'],
      title: 'Plan: Plan it.',
    });
    const [delivered, ...others] = runs.requests('session.deliver', run.runSessionId);
    expect(others).toEqual([]);
    expect(delivered.text).toMatch(/^You are asked for a plan\.[\s\S]*"steps"[\s\S]*\n\nPlan it\.\n$/);
  });

  it('is only stopped once by its own end: a stop afterwards changes nothing', async () => {
    const { runId } = await runs.start(wait);
    expect(await world.ok(runs.token, 'execution.run.stop', { runId })).toMatchObject({
      status: 'succeeded',
    });
  });

  it('that strays is asked once more for its shape, then keeps the words and says where they stray', async () => {
    reply = (text) => (text.startsWith('You are') ? 'I would do it.' : fenced({ ...PLAN, steps: [{}] }));
    const strayed = (await runs.start(wait)).runs[0];
    expect(strayed).toMatchObject({ status: 'succeeded', rawText: expect.stringContaining('Here it is.') });
    expect(strayed.resultProblem).toContain('steps.0.title');
    expect(strayed.result).toBeUndefined();
    const { runSessionId } = await runs.run(strayed.runId);
    const texts = runs.requests('session.deliver', runSessionId).map(({ text }) => text as string);
    expect(texts).toHaveLength(2);
    expect(texts[1]).toContain('the answer holds no block of JSON');
    reply = (text) => (text.startsWith('You are') ? 'I would do it.' : fenced(PLAN));
    expect(await runs.start(wait)).toMatchObject({ status: 'succeeded', result: PLAN });
  });

  it('whose turn fails has failed with the reason, and goes on with a further message', async () => {
    reply = () => undefined;
    const { runId } = await runs.start();
    const { runSessionId } = await atWork(runId);
    const messageId = newestMessage(runs.daemon, runSessionId);
    const reason = { code: 'agent_failed', message: 'the daemon restarted during this turn' };
    await runs.daemon.record(
      runSessionId,
      { type: 'turn_ended', messageId, outcome: 'failed', reason },
      { type: 'session_stopped', reason },
    );
    expect(await runs.reaches(runId, 'failed')).toMatchObject({ reason });
    reply = () => fenced(PLAN);
    const sent = await world.ok(runs.token, 'execution.run.send', { runId, message: 'Go on.', wait: true });
    expect(sent).toMatchObject({ status: 'succeeded', result: PLAN, messageStatus: 'completed' });
    expect(sent.reason).toBeUndefined();
    expect((await runs.run(runId)).runSessionId).toBe(runSessionId);
    expect(runs.requests('session.start')).toHaveLength(2);
  });

  it('takes further messages while it works, and its result is that of the last', async () => {
    reply = () => undefined;
    const { runId } = await runs.start();
    const { runSessionId } = await atWork(runId);
    const first = newestMessage(runs.daemon, runSessionId);
    const sent = await world.ok(runs.token, 'execution.run.send', { runId, message: 'The tests too.' });
    expect(sent).toMatchObject({ status: 'running' });
    await atWork(runId, sent.messageId);
    await runs.finish(runId, fenced(PLAN), first);
    expect(await runs.run(runId)).toMatchObject({ status: 'running' });
    await runs.finish(runId, fenced({ ...PLAN, summary: 'With tests.' }), sent.messageId);
    expect(await runs.reaches(runId, 'succeeded')).toMatchObject({ result: { summary: 'With tests.' } });
  });
});

/** The run once its agent has that message, or any. */
async function atWork(runId: string, messageId?: string): Promise<Json> {
  for (;;) {
    const { events } = await world.ok(runs.token, 'execution.run.stream.read', { runId, limit: 200 });
    const isAtWork = (event: Json): boolean =>
      event.type === 'agent_text' && (messageId ?? event.messageId) === event.messageId;
    if (events.some(isAtWork)) return runs.run(runId);
  }
}

describe('several targets', () => {
  it('are one run each, and one that cannot be had does not keep the others', async () => {
    const { runs: all, runId } = await runs.start({
      ...wait,
      ...targets('demo', 'absent', 'loose', 'unknown', 'planner'),
    });
    expect(runId).toBeUndefined();
    expect(all.map((run: Json) => [run.backendTarget.agentId, run.status, run.reason?.code])).toEqual([
      ['demo', 'succeeded', undefined],
      ['absent', 'failed', 'agent_not_available'],
      ['loose', 'failed', 'unsupported'],
      ['unknown', 'failed', 'agent_not_available'],
      ['planner', 'succeeded', undefined],
    ]);
    expect(all[2].reason.message).toContain('read_only or plan');
    expect(await runs.run(all[4].runId)).toMatchObject({ permissionMode: 'plan' });
  });

  it('of the wrong kind start nothing and the right kind is named', async () => {
    const error = await fail({ ...targets('demo', 'mine') });
    expect(error).toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: 'backendTargets.1.kind', received: 'builtInAgent' }] },
    });
    expect(error.message).toContain('acpBackend');
    expect(await world.ok(runs.token, 'execution.run.list')).toEqual({ runs: [] });
  });

  it('and one target are not given together, and only work may have a worktree', async () => {
    expect(await fail({ backendTargets: [TARGET] })).toMatchObject({ code: 'invalid_input' });
    expect(await fail({ worktree: true })).toMatchObject({ code: 'invalid_input' });
  });
});

describe('the queue', () => {
  it('lets four of a session work at once, the others in their order', async () => {
    reply = () => undefined;
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push((await runs.start()).runId);
    const statuses = async () => Promise.all(ids.map(async (id) => (await runs.run(id)).status));
    expect(await statuses()).toEqual([...Array.from({ length: 4 }, () => 'running'), 'queued', 'queued']);
    expect(await world.ok(runs.token, 'execution.run.stop', { runId: ids[5] })).toMatchObject({
      status: 'cancelled',
      reason: { message: 'It was stopped from cli.' },
    });
    await atWork(ids[2] as string);
    await runs.finish(ids[2] as string, fenced(PLAN));
    await runs.reaches(ids[4] as string, 'running');
    expect((await statuses()).filter((status) => status === 'running')).toHaveLength(4);
  });

  it('is none for another session', async () => {
    reply = () => undefined;
    for (let i = 0; i < 5; i++) await runs.start();
    const other = await world.ok(runs.token, 'session.spawn_new', { agentId: 'demo', directory: '/other' });
    expect(await runs.start({ sessionId: other.sessionId })).toMatchObject({ status: 'running' });
  });
});

describe('an end from outside', () => {
  beforeEach(() => {
    reply = () => undefined;
  });

  it('the time limit stops the session of a run', async () => {
    const { runId } = await runs.start({ timeoutSeconds: 1 });
    const run = await runs.reaches(runId, 'timed_out');
    expect(run.reason).toMatchObject({ code: 'timeout', hint: expect.any(String) });
    await world.ok(runs.token, 'execution.run.stop', { runId });
    expect(runs.requests('session.stop', run.runSessionId)).not.toEqual([]);
    expect((await world.store.sessions.get(run.runSessionId)).status).toBe('stopped');
  });

  it('a stop ends a run at work and its session', async () => {
    const { runId } = await runs.start();
    const { runSessionId } = await atWork(runId);
    expect(await world.ok(runs.token, 'execution.run.stop', { runId })).toMatchObject({
      status: 'cancelled',
    });
    expect((await world.store.sessions.get(runSessionId)).status).toBe('stopped');
  });

  it('a message that comes while its session is being stopped is not stopped with it', async () => {
    const { runId } = await runs.start();
    await atWork(runId);
    let release = () => {};
    const stopping = new Promise<void>((resolve) => {
      onRequest = (method) => {
        if (method !== 'session.stop') return undefined;
        resolve();
        return new Promise((go) => (release = go));
      };
    });
    const stopped = world.ok(runs.token, 'execution.run.stop', { runId });
    await stopping;
    let early = false;
    onRequest = (method) => {
      early ||= method === 'session.deliver';
      return undefined;
    };
    reply = () => fenced(PLAN);
    const sent = world.ok(runs.token, 'execution.run.send', { runId, message: 'Do go on.', wait: true });
    // Time enough for it to get there, if nothing held it.
    for (let i = 0; i < 20; i++) await runs.run(runId);
    expect(early).toBe(false);
    release();
    await stopped;
    expect(await sent).toMatchObject({ status: 'succeeded', result: PLAN, messageStatus: 'completed' });
  });

  it('a run ends with the session that it belongs to, stopped or archived', async () => {
    for (const [actionId, how] of [
      ['session.stop', 'stopped'],
      ['session.archive', 'archived'],
    ] as const) {
      const { runId } = await runs.start();
      await atWork(runId);
      await world.ok(runs.token, actionId, { sessionId: runs.parent });
      const { reason } = await runs.reaches(runId, 'cancelled');
      expect(reason.message).toBe(`Session ${runs.parent} was ${how}.`);
    }
    expect(await fail({})).toMatchObject({ code: 'session_archived' });
  });

  it('a run whose own session somebody stops is cancelled', async () => {
    const { runId } = await runs.start({ intent: 'voice_agent' });
    const { runSessionId } = await atWork(runId);
    await runs.finish(runId, fenced({ spoken: 'Hello.' }));
    await world.ok(runs.token, 'execution.run.wait', { runId });
    await world.ok(runs.token, 'session.stop', { sessionId: runSessionId });
    expect(await runs.reaches(runId, 'cancelled')).toMatchObject({ runSessionId });
  });
});

describe('waits', () => {
  it('end as the caller can bear it, with how things stand then', async () => {
    reply = () => undefined;
    const started = await world.ok(
      runs.token,
      'execution.run.start',
      { sessionId: runs.parent, intent: 'plan', instructions: 'x', backendTarget: TARGET, ...wait },
      { maxWaitSeconds: 0 },
    );
    expect(started).toMatchObject({ status: 'running', timedOut: true });
    const { runId } = started;
    const waited = { runId, timeoutSeconds: 0 };
    expect(await world.ok(runs.token, 'execution.run.wait', waited)).toMatchObject({ timedOut: true });
    await atWork(runId);
    const waiting = world.ok(runs.token, 'execution.run.wait', { runId });
    await runs.finish(runId, fenced(PLAN));
    expect(await waiting).toMatchObject({ status: 'succeeded', result: PLAN });
  });

  it('for events end with the first, from the moment that the run is queued', async () => {
    reply = () => undefined;
    const { runId } = await runs.start();
    await atWork(runId);
    const { lastSeq } = await world.ok(runs.token, 'execution.run.stream.read', { runId });
    const next = world.ok(runs.token, 'execution.run.stream.read', { runId, after: lastSeq });
    await runs.finish(runId, fenced(PLAN));
    expect((await next).events[0]).toMatchObject({ seq: lastSeq + 1, type: 'agent_text' });
  });
});
