import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { demoAgent } from './helpers/fake-daemon.ts';
import { letAgentsSpawn, openSessions, type SessionWorld } from './helpers/session-world.ts';
import { errorOf } from './helpers/world.ts';

let t: SessionWorld;
beforeEach(async () => {
  t = await openSessions({
    agents: [{ ...demoAgent, permissionModes: ['default', 'read_only', 'accept_edits', 'bypass'] }],
  });
  await letAgentsSpawn(t);
});
afterEach(() => t.end());

const spawnAs = async (agent: string, more: object = {}) => {
  const envelope = await t.asAgent(agent, 'session.spawn_new', { ...t.input, ...more });
  if (envelope.status !== 'ok') throw new Error(JSON.stringify(envelope));
  return envelope.output['sessionId'] as string;
};
const refusal = async (agent: string, more: object = {}) =>
  errorOf(await t.asAgent(agent, 'session.spawn_new', { ...t.input, ...more })).code;

describe('a child', () => {
  it('belongs to the session whose agent started it, whatever it asks for', async () => {
    const other = await t.spawn({ title: 'Another' });
    const root = await t.spawn({ title: 'Root' });
    const agent = await t.agentToken(root);
    const child = await spawnAs(agent, { title: 'Child' });
    expect(await t.session(child)).toMatchObject({ parentSessionId: root, depth: 1, machineId: 'mach_one' });
    expect(await refusal(agent, { parentSessionId: other })).toBe('forbidden');
    // One that it started itself it may name, and is the parent all the same.
    const second = await spawnAs(agent, { parentSessionId: child });
    expect(await t.session(second)).toMatchObject({ parentSessionId: root, depth: 1 });

    const status = await t.ok('session.status.get', { sessionId: child });
    expect(status.lineage).toEqual([
      { sessionId: root, title: 'Root' },
      { sessionId: child, title: 'Child' },
    ]);
    const above = await t.ok('session.status.get', { sessionId: root });
    expect(above.children).toEqual([
      { sessionId: second, status: 'idle' },
      { sessionId: child, title: 'Child', status: 'idle' },
    ]);
  });

  it('is within the reach of its parent, and what lies above it is not told', async () => {
    const root = await t.spawn({ title: 'Root' });
    const child = await spawnAs(await t.agentToken(root));
    const agent = await t.agentToken(child);
    const grandchild = await spawnAs(agent);
    const status = await t.asAgent(agent, 'session.status.get', { sessionId: grandchild });
    expect(status).toMatchObject({
      status: 'ok',
      output: { depth: 2, lineage: [{ sessionId: child }, { sessionId: grandchild }] },
    });
    const list = await t.asAgent(agent, 'session.list');
    expect(list).toMatchObject({ status: 'ok', output: { sessions: [{ sessionId: grandchild }] } });
    expect(errorOf(await t.asAgent(agent, 'session.status.get', { sessionId: root })).code).toBe('forbidden');
  });

  it('lies at most six steps below its root', async () => {
    let sessionId = await t.spawn();
    for (let depth = 1; depth <= 6; depth++) {
      sessionId = await spawnAs(await t.agentToken(sessionId));
      expect(await t.session(sessionId)).toMatchObject({ depth });
    }
    const agent = await t.agentToken(sessionId);
    const error = errorOf(await t.asAgent(agent, 'session.spawn_new', t.input));
    expect(error).toMatchObject({ code: 'session_too_deep', details: { depth: 6, max: 6 } });
    const byHand = await t.fail('session.spawn_new', { ...t.input, parentSessionId: sessionId });
    expect(byHand.code).toBe('session_too_deep');
    const { sessions } = await t.ok('session.list', { limit: 50 });
    expect(sessions).toHaveLength(7);
  });

  it('is not started below a session that was put away', async () => {
    const root = await t.spawn();
    await t.ok('session.archive', { sessionId: root });
    const error = await t.fail('session.spawn_new', { ...t.input, parentSessionId: root });
    expect(error).toMatchObject({ code: 'session_archived', message: expect.stringContaining(root) });
    expect((await t.fail('session.spawn_new', { ...t.input, parentSessionId: 'sess_nobody' })).code).toBe(
      'session_not_found',
    );
  });

  it('never may do more than its parent: not by mode, not in another workspace, not on the disk', async () => {
    const root = await t.spawn({ permissionMode: 'accept_edits', additionalDirectories: ['/work/more'] });
    const agent = await t.agentToken(root);
    const denied = 'permission_escalation_denied';
    expect(await refusal(agent, { permissionMode: 'bypass' })).toBe(denied);
    const edits = { permissionMode: 'accept_edits' };
    for (const directory of ['/', '/work', '/work/placebo', '/work/place/../other', '~', 'work/place']) {
      expect([directory, await refusal(agent, { ...edits, directory })]).toEqual([directory, denied]);
    }
    expect(await refusal(agent, { ...edits, additionalDirectories: ['/etc'] })).toBe(denied);
    for (const directory of ['/work/place', '/work/place/deep', '/work/more/deep']) {
      await spawnAs(agent, { ...edits, directory });
    }
    expect(await refusal(agent, { directory: '/etc' })).toBe(denied);
    expect(t.asked('session.start').within).toEqual(['/work/place', '/work/more']);

    const reader = await t.agentToken(await t.spawn({ permissionMode: 'read_only' }));
    const reads = { permissionMode: 'read_only' };
    expect(await refusal(reader, { ...reads, createDirectory: true })).toBe(denied);
    expect(await refusal(reader, { ...reads, worktree: {} })).toBe(denied);
    expect(await refusal(reader)).toBe(denied);
    await spawnAs(reader, reads);
  });
});

describe('lists', () => {
  it('narrow to a tag and to what a session started', async () => {
    const root = await t.spawn({ tags: ['nightly', 'a "b"'] });
    const child = await t.spawn({ parentSessionId: root, tags: ['night'] });
    const grandchild = await t.spawn({ parentSessionId: child, tags: ['nightly'] });
    const ids = async (filter: object) =>
      (await t.ok('session.list', filter)).sessions.map(
        (session: { sessionId: string }) => session.sessionId,
      );
    expect(await ids({ tag: 'nightly' })).toEqual([grandchild, root]);
    expect(await ids({ tag: 'night' })).toEqual([child]);
    expect(await ids({ tag: 'a "b"' })).toEqual([root]);
    expect(await ids({ tag: 'NIGHT' })).toEqual([]);
    expect(await ids({ below: root })).toEqual([grandchild, child]);
    expect(await ids({ below: root.slice(0, 12), tag: 'nightly' })).toEqual([grandchild]);
    expect(await ids({ below: grandchild })).toEqual([]);
  });
});
