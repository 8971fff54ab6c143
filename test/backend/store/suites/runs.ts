import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NewRun } from '../../../../src/backend/store/run-store.ts';
import type { FeedEntry } from '../../../../src/core/feed.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newSession, readAll } from '../make.ts';

const newRun = (runId: string, more: Partial<NewRun> = {}): NewRun => ({
  runId,
  sessionId: 'sess_a',
  intent: 'plan',
  backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
  instructions: 'Plan it.',
  permissionMode: 'read_only',
  promptVersion: 1,
  timeoutSeconds: 60,
  requester: { surface: 'cli', client: 'cli', tokenId: 'tok_1', tokenKind: 'device', scope: {} },
  ...more,
});

export function runsSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
    await world.store.sessions.insert(newSession('sess_a'));
  });
  afterEach(() => world.end());

  const add = (runId: string, more: Partial<NewRun> = {}) =>
    world.store.runs.insert(newRun(runId, more), `Prompt of ${runId}`);
  const startNext = async (sessionId = 'sess_a', max = 2) =>
    (await world.store.runs.startNext(sessionId, max))?.runId;
  const reason = { code: 'canceled', message: 'It was stopped.', hint: 'Start it again.' };

  test('a run is what was stored, after a restart too', async () => {
    const full = newRun('run_1', {
      instructions: 'Zeile\0 三',
      modelId: 'small',
      worktree: true,
      requester: {
        surface: 'agent',
        client: 'agent',
        tokenId: 'tok_2',
        tokenKind: 'agent',
        scope: { sessionId: 'sess_a' },
        approved: true,
      },
    });
    const stored = await world.store.runs.insert(full, 'A prompt\0');
    const { runs } = await world.reopen();
    expect(await runs.get('run_1')).toStrictEqual(stored);
    expect(stored).toStrictEqual({
      ...full,
      status: 'queued',
      stopDue: false,
      answered: 0,
      createdAt: '2026-11-30T12:00:00.000Z',
    });
    expect(await runs.messages('run_1')).toStrictEqual([
      { runId: 'run_1', ordinal: 1, messageId: 'msg_1.1', kind: 'prompt', text: 'A prompt\0' },
    ]);
    expect(await runs.get('run_2')).toBeUndefined();
  });

  test('one that cannot start is over from the beginning', async () => {
    const failed = await world.store.runs.insert(newRun('run_1'), 'A prompt', reason);
    expect(failed).toMatchObject({ status: 'failed', reason, endedAt: failed.createdAt, stopDue: false });
    expect(await startNext()).toBeUndefined();
    expect(await world.store.runs.unfinished()).toEqual([]);
  });

  test('they start in the order in which they came, so many of one session at once', async () => {
    await world.store.sessions.insert(newSession('sess_b'));
    for (const id of ['run_c', 'run_a', 'run_b']) await add(id);
    await add('run_other', { sessionId: 'sess_b' });
    const started = await Promise.all(Array.from({ length: 10 }, () => startNext()));
    expect(started.filter((id) => id !== undefined)).toEqual(['run_c', 'run_a']);
    expect(await startNext('sess_b')).toBe('run_other');
    expect(await world.store.runs.get('run_c')).toMatchObject({
      status: 'running',
      startedAt: expect.any(String),
    });
    await world.store.runs.end('run_a', ['running'], 'succeeded', { result: { a: 1 } });
    expect(await startNext()).toBe('run_b');
    expect(await startNext()).toBeUndefined();
  });

  test('it ends once, whoever ends it, and its session is to be stopped', async () => {
    await add('run_1');
    const { runs } = world.store;
    expect(await runs.end('run_1', ['running'], 'timed_out', { reason })).toBeUndefined();
    await startNext();
    const ends = await Promise.all([
      runs.end('run_1', ['running'], 'succeeded', { result: { a: 1 } }),
      ...Array.from({ length: 9 }, () => runs.end('run_1', ['queued', 'running'], 'cancelled', { reason })),
    ]);
    const won = ends.filter((run) => run !== undefined);
    expect(won).toHaveLength(1);
    expect(await runs.get('run_1')).toStrictEqual(won[0]);
    expect(won[0]).toMatchObject({ stopDue: true, endedAt: expect.any(String) });
    expect((await runs.unfinished()).map(({ runId }) => runId)).toEqual(['run_1']);
    await runs.setStopped('run_1');
    expect(await runs.unfinished()).toEqual([]);
  });

  test('it does not end while more has been said than it takes into account', async () => {
    await add('run_1');
    await startNext();
    const { runs } = world.store;
    expect(await runs.addMessage('run_1', 'said', 'And the tests?')).toMatchObject({ ordinal: 2 });
    expect(await runs.end('run_1', ['running'], 'succeeded', {}, 1)).toBeUndefined();
    expect(await runs.addMessage('run_1', 'repeat', 'Again', 1)).toBeUndefined();
    expect(await runs.addMessage('run_1', 'repeat', 'Again', 2)).toMatchObject({ messageId: 'msg_1.3' });
    expect(await runs.end('run_1', ['running'], 'succeeded', {}, 3)).toMatchObject({ status: 'succeeded' });
    expect(await runs.addMessage('run_1', 'repeat', 'Again', 3)).toBeUndefined();
    expect(await runs.lastOrdinal('run_1')).toBe(3);
    expect(await runs.addMessage('run_none', 'said', 'x')).toBeUndefined();
  });

  test('a message to one that is over queues it again, at the end, with nothing left of its outcome', async () => {
    for (const id of ['run_1', 'run_2']) await add(id);
    const { runs } = world.store;
    await startNext('sess_a', 1);
    await runs.setSession('run_1', 'sess_run');
    await runs.end('run_1', ['running'], 'succeeded', { rawText: 'words', resultProblem: 'no JSON' });
    await runs.addMessage('run_1', 'said', 'Go on');
    const again = await runs.get('run_1');
    expect(again).toStrictEqual({
      ...newRun('run_1'),
      status: 'queued',
      stopDue: false,
      answered: 0,
      createdAt: again?.createdAt,
      runSessionId: 'sess_run',
    });
    expect(await startNext()).toBe('run_2');
    expect(await startNext()).toBe('run_1');
  });

  test('what a run has come to so far is kept while it runs only', async () => {
    await add('run_1');
    const { runs } = world.store;
    await runs.setAnswered('run_1', 1, { result: { spoken: 'too early' } });
    expect((await runs.get('run_1'))?.result).toBeUndefined();
    await startNext();
    await runs.setAnswered('run_1', 1, { result: { spoken: 'hello' } });
    await runs.setAnswered('run_1', 1, { result: { spoken: 'twice' } });
    await runs.setAnswered('run_1', 2, undefined);
    expect(await runs.get('run_1')).toMatchObject({ result: { spoken: 'hello' }, answered: 2 });
  });

  test('its session is found from the moment that it is stored', async () => {
    await add('run_1');
    expect(await world.store.runs.sessionOf('run_1')).toBeUndefined();
    await world.store.sessions.insert(newSession('sess_run', { parentSessionId: 'sess_a', runId: 'run_1' }));
    expect(await world.store.runs.sessionOf('run_1')).toBe('sess_run');
  });

  test('lists page newest first, by session, state and intent', async () => {
    await world.store.sessions.insert(newSession('sess_b'));
    for (const [i, more] of [{}, { intent: 'review' as const }, { sessionId: 'sess_b' }, {}].entries()) {
      world.runtime.advance(1000);
      await add(`run_${i}`, more);
    }
    await startNext();
    const { runs } = world.store;
    const list = async (filter: Parameters<typeof runs.list>[0]) =>
      (await readAll((page) => runs.list(filter, page), 2)).map(({ runId }) => runId);
    expect(await list({})).toEqual(['run_3', 'run_2', 'run_1', 'run_0']);
    expect(await list({ sessionId: 'sess_a' })).toEqual(['run_3', 'run_1', 'run_0']);
    expect(await list({ status: 'running' })).toEqual(['run_0']);
    expect(await list({ intent: 'review' })).toEqual(['run_1']);
  });

  test('every change is told with the session that it belongs to', async () => {
    const told: FeedEntry[] = [];
    world.store.feed.subscribe((entry) => told.push(entry));
    await add('run_1');
    await startNext();
    await world.store.runs.addMessage('run_1', 'said', 'x');
    await world.store.runs.setSession('run_1', 'sess_run');
    await world.store.runs.end('run_1', ['running'], 'succeeded', {});
    await world.store.runs.setStopped('run_1');
    await world.store.runs.setStopped('run_1');
    expect(told).toHaveLength(6);
    for (const entry of told)
      expect(entry).toMatchObject({ type: 'run.changed', runId: 'run_1', sessionId: 'sess_a' });
  });
}
