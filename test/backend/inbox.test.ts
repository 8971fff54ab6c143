import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionEventBody } from '../../src/core/session.ts';
import type { Json } from './helpers/json.ts';
import { letAgentsSpawn, openSessions, type SessionWorld } from './helpers/session-world.ts';
import { errorOf } from './helpers/world.ts';

let t: SessionWorld;
beforeEach(async () => {
  t = await openSessions();
});
afterEach(() => t.end());

const user: SessionEventBody = { type: 'user_message', messageId: 'm', text: 'x' };
const permission: SessionEventBody = {
  type: 'permission_requested',
  messageId: 'm',
  request: {
    requestId: 'p-1',
    title: 'rm -rf /tmp/x\u202e',
    kind: 'execute',
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
  },
};
const question: SessionEventBody = {
  type: 'question_asked',
  messageId: 'm',
  request: { requestId: 'q-1', message: 'Which one?', fields: [] },
};
const failed: SessionEventBody = {
  type: 'session_failed',
  reason: { code: 'agent_failed', message: 'gone' },
};
const ended: SessionEventBody = { type: 'turn_ended', messageId: 'm', outcome: 'completed' };

const items = async (filter: object = {}): Promise<Json[]> => (await t.ok('inbox.list', filter)).items;
const kinds = async (filter: object = {}) =>
  (await items(filter)).map(({ kind, itemId }) => `${kind} ${itemId}`);

it('holds all that waits for a person, newest first, with what answers it', async () => {
  const asks = await t.spawn({ title: 'Asks' });
  await t.daemon.record(asks, user, permission);
  const wonders = await t.spawn();
  await t.daemon.record(wonders, user, question);
  const broken = await t.spawn();
  await t.daemon.record(broken, failed);
  const silent = await t.spawn();
  await t.daemon.record(silent, user, { type: 'stalled', messageId: 'm', since: new Date().toISOString() });
  await t.spawn();
  await t.ok('policy.set', { rules: { 'session.stop': { mcp: { approval: true } } } });
  const gated = await t.world.call(t.token, 'session.stop', { sessionId: asks }, { surface: 'mcp' });
  const { artifactId } = gated.status === 'approval_required' ? gated.approval : { artifactId: '' };

  const all = await items();
  const times = all.map(({ at }) => String(at));
  expect(times).toEqual(times.toSorted().toReversed());
  expect((await kinds()).toSorted()).toEqual(
    [
      `approval ${artifactId}`,
      'permission p-1',
      'question q-1',
      `failed ${broken}`,
      `stalled ${silent}`,
    ].toSorted(),
  );
  const [request] = await items({ kind: 'permission' });
  expect(request).toMatchObject({
    sessionId: asks,
    machineId: 'mach_one',
    agentId: 'demo',
    lineage: [{ sessionId: asks, title: 'Asks' }],
    permission: { requestId: 'p-1', kind: 'execute' },
  });
  expect(request.title).not.toContain('\u202e');
  expect(await items({ kind: 'approval' })).toMatchObject([{ approval: { artifactId, status: 'pending' } }]);
  expect(await items({ kind: 'failed' })).toMatchObject([{ reason: { message: 'gone' } }]);

  const first = await t.ok('inbox.list', { limit: 2 });
  const rest = await t.ok('inbox.list', { limit: 3, cursor: first.nextCursor });
  expect([...first.items, ...rest.items]).toEqual(all);
  expect(rest).not.toHaveProperty('nextCursor');
  expect((await t.fail('inbox.list', { cursor: 'x' })).code).toBe('invalid_input');
});

it('is left by what was answered, ended, archived or runs again', async () => {
  const sessionId = await t.spawn();
  await t.daemon.record(sessionId, user, permission, {
    type: 'permission_resolved',
    messageId: 'm',
    requestId: 'p-1',
    outcome: 'allowed',
    by: 'cli',
  });
  expect(await kinds()).toEqual([]);
  await t.daemon.record(sessionId, { type: 'stalled', messageId: 'm', since: new Date().toISOString() });
  expect(await kinds()).toEqual([`stalled ${sessionId}`]);
  await t.daemon.record(sessionId, { type: 'stalled', messageId: 'm', since: null });
  expect(await kinds()).toEqual([]);
  await t.daemon.record(sessionId, question, ended);
  expect(await kinds()).toEqual([]);
  await t.daemon.record(sessionId, failed);
  expect(await kinds()).toEqual([`failed ${sessionId}`]);
  await t.ok('session.archive', { sessionId });
  expect(await kinds()).toEqual([]);
  await t.ok('session.unarchive', { sessionId });
  expect(await kinds()).toEqual([`failed ${sessionId}`]);
  await t.daemon.record(sessionId, user);
  expect(await kinds()).toEqual([]);
});

it("an ask from any depth is in its root's inbox, with the way down to it", async () => {
  await letAgentsSpawn(t);
  const root = await t.spawn({ title: 'Root' });
  const child = await t.spawn({ title: 'Child', parentSessionId: root });
  const deep = await t.spawn({ title: 'Deep', parentSessionId: child });
  const other = await t.spawn({ title: 'Other' });
  await t.daemon.record(deep, user, permission);
  await t.daemon.record(other, failed);
  await t.ok('policy.set', { rules: { 'session.title.set': { agent: { approval: true } } } });
  const agent = await t.agentToken(deep);
  const gated = await t.asAgent(agent, 'session.title.set', { title: 'New' });
  const { artifactId } = gated.status === 'approval_required' ? gated.approval : { artifactId: '' };

  const lineage = [
    { sessionId: root, title: 'Root' },
    { sessionId: child, title: 'Child' },
    { sessionId: deep, title: 'Deep' },
  ];
  const seen = await items({ sessionId: root });
  expect(seen.map(({ kind, sessionId, lineage }) => ({ kind, sessionId, lineage }))).toEqual([
    { kind: 'approval', sessionId: deep, lineage },
    { kind: 'permission', sessionId: deep, lineage },
  ]);
  expect(await kinds({ sessionId: child.slice(0, 12) })).toHaveLength(2);
  expect(await kinds({ sessionId: other })).toEqual([`failed ${other}`]);
  expect(await kinds()).toHaveLength(3);
  expect(await t.ok('approval.request.get', { artifactId })).toMatchObject({ lineage });
  expect((await t.ok('approval.request.list')).approvals).toMatchObject([{ artifactId, lineage }]);

  await t.ok('approval.request.decide', { artifactId, decision: 'approve' });
  expect(await kinds({ sessionId: root })).toEqual(['permission p-1']);
  expect(await t.session(deep)).toMatchObject({ title: 'New' });
});

it('is not for agents', async () => {
  await t.ok('policy.set', { rules: { 'inbox.*': { agent: { enabled: true } } } });
  const agent = await t.agentToken(await t.spawn());
  expect(errorOf(await t.asAgent(agent, 'inbox.list')).code).toBe('action_disabled');
});
