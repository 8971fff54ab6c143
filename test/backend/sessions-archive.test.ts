import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import { demoAgent } from './helpers/fake-daemon.ts';
import { letAgentsSpawn, openSessions, type SessionWorld } from './helpers/session-world.ts';
import { errorOf } from './helpers/world.ts';

let t: SessionWorld;
let onArchive: () => void;
beforeEach(async () => {
  onArchive = () => {};
  t = await openSessions({
    agents: [
      { ...demoAgent, features: ['load', 'fork'] },
      { ...demoAgent, agentId: 'plain', name: 'Plain', features: ['load'] },
    ],
    before: (method) => (method === 'session.archive' ? onArchive() : undefined),
  });
});
afterEach(() => t.end());

const archives = () => t.daemon.requests.filter(({ method }) => method === 'session.archive');

describe('archive', () => {
  it('tells the machine and says what became of the worktree', async () => {
    const sessionId = await t.spawn({ worktree: {} });
    const worktree = { path: '/work/place.worktrees/x', branch: 'x', repository: '/work/place' };
    await t.daemon.record(sessionId, {
      type: 'session_started',
      acpSessionId: 'acp-2',
      permissionMode: 'default',
      models: [],
      directory: worktree.path,
      worktree,
      resumed: 'new',
    });
    expect(await t.session(sessionId)).toMatchObject({ directory: worktree.path, worktree });
    t.daemon.archived = { worktree: 'kept', reason: '2 changed files' };
    expect(await t.ok('session.archive', { sessionId })).toMatchObject({
      sessionId,
      archivedAt: expect.any(String),
      worktree: 'kept',
      worktreeReason: '2 changed files',
    });
    expect(await t.session(sessionId)).toMatchObject({ worktree });
    t.daemon.archived = { worktree: 'removed' };
    expect(await t.ok('session.archive', { sessionId })).toMatchObject({ worktree: 'removed' });
    expect(await t.session(sessionId)).not.toHaveProperty('worktree');
    expect(archives()).toHaveLength(2);
  });

  it('waits for a machine that is away, and tells it once when it is back', async () => {
    const sessionId = await t.spawn();
    const gone = await t.spawn();
    await t.goOffline();
    const answer = await t.ok('session.archive', { sessionId });
    expect(answer).toMatchObject({
      worktree: 'later',
      worktreeReason: expect.stringContaining('links again'),
    });
    expect(answer).toHaveProperty('archivedAt');
    await t.ok('session.archive', { sessionId: gone });
    await t.ok('session.unarchive', { sessionId: gone });
    const told = new Promise((resolve) => t.daemon.events.once('request', resolve));
    await t.daemon.connect();
    expect(await told).toBe('session.archive');
    await expect.poll(() => t.world.store.sessions.archivedUntold('mach_one')).toEqual([]);
    await t.daemon.drop();
    await t.daemon.connect();
    // What was asked before the next request is there by then.
    await t.spawn();
    expect(archives().map(({ params }) => params.sessionId)).toEqual([sessionId]);
  });

  it('is not undone by a machine that does not answer or knows nothing of it', async () => {
    const sessionId = await t.spawn();
    onArchive = () => {
      throw new Error('of its own');
    };
    expect(await t.ok('session.archive', { sessionId })).toMatchObject({ worktree: 'later' });
    expect(await t.world.store.sessions.archivedUntold('mach_one')).toEqual([sessionId]);
    onArchive = () => {
      throw new KaiwuError('session_not_found', 'not here');
    };
    expect(await t.ok('session.archive', { sessionId })).toMatchObject({ worktree: 'none' });
    expect(await t.world.store.sessions.archivedUntold('mach_one')).toEqual([]);
  });

  it('ends changes of how the agent works, and not of what the session is called', async () => {
    const sessionId = await t.spawn();
    await t.ok('session.archive', { sessionId });
    const changes: [string, object][] = [
      ['session.permission_mode.set', { permissionMode: 'read_only' }],
      ['session.model.set', { modelId: 'small' }],
      ['session.config_option.set', { configId: 'thinking', value: 'on' }],
    ];
    for (const [actionId, change] of changes)
      expect([actionId, (await t.fail(actionId, { sessionId, ...change })).code]).toEqual([
        actionId,
        'session_archived',
      ]);
    expect(await t.ok('session.title.set', { sessionId, title: 'Put away' })).toMatchObject({
      title: 'Put away',
    });
  });
});

describe('fork', () => {
  it('goes on with the conversation in a second session of the same place', async () => {
    const sessionId = await t.spawn({ permissionMode: 'read_only', tags: ['x'], modelId: 'small' });
    const fork = await t.ok('session.fork', { sessionId, title: 'The other way' });
    const { lastSeq } = await t.session(sessionId);
    expect(fork).toMatchObject({
      title: 'The other way',
      status: 'idle',
      permissionMode: 'read_only',
      directory: '/work/place',
      forkedFrom: { sessionId, seq: lastSeq },
    });
    expect(t.asked('session.start')).toMatchObject({ forkOf: sessionId, agentId: 'demo', modelId: 'small' });
    expect(await t.session(fork.sessionId)).toMatchObject({ tags: ['x'], depth: 0 });
  });

  it('refuses what cannot be forked before anything is made', async () => {
    const plain = await t.spawn({ agentId: 'plain' });
    const error = await t.fail('session.fork', { sessionId: plain });
    expect(error).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('demo') });
    const archived = await t.spawn();
    await t.ok('session.archive', { sessionId: archived });
    expect((await t.fail('session.fork', { sessionId: archived })).code).toBe('session_archived');
    const away = await t.spawn();
    await t.goOffline();
    expect((await t.fail('session.fork', { sessionId: away })).code).toBe('machine_offline');
    expect((await t.ok('session.list', { archived: 'include' })).sessions).toHaveLength(3);
  });

  it('of a session with more freedom is no way out for an agent', async () => {
    await letAgentsSpawn(t);
    const root = await t.spawn({ permissionMode: 'read_only' });
    const child = await t.spawn({ parentSessionId: root, permissionMode: 'bypass' });
    const agent = await t.agentToken(root);
    const refused = await t.asAgent(agent, 'session.fork', { sessionId: child });
    expect(errorOf(refused).code).toBe('permission_escalation_denied');
    const own = await t.asAgent(agent, 'session.fork');
    expect(own).toMatchObject({ status: 'ok', output: { parentSessionId: root } });
  });
});
