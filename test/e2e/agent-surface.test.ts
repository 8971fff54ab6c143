import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../helpers/world.ts';
import type { Api } from './helpers/api.ts';
import { type Inside, openInside } from './helpers/inside.ts';

let world: World;
let api: Api;
let directory: string;
let spawn: Inside['spawn'];
let tool: Inside['tool'];

const act = (sessionId: string, actionId: string, input: unknown = {}) =>
  tool(sessionId, 'action_execute', { actionId, input });
const codeOf = async (sessionId: string, actionId: string, input: unknown = {}) => {
  const answer = await act(sessionId, actionId, input);
  return (answer.error?.code ?? 'ok') as string;
};
const spawnInside = async (sessionId: string): Promise<string> =>
  (await act(sessionId, 'session.spawn_new', { agentId: 'demo', directory })).sessionId;

beforeAll(async () => {
  ({ world, api, directory, spawn, tool } = await openInside());
}, 90_000);
afterAll(() => world?.stop(), 60_000);

describe('inside a session', () => {
  test('an agent names its own session, and the audit knows it as the agent of that session', async () => {
    const sessionId = await spawn();
    expect(await tool(sessionId, 'change_title', { title: 'From inside' })).toMatchObject({
      title: 'From inside',
    });
    const { rows } = await api.output('audit.list', { sessionId, actionId: 'session.title.set' });
    expect(rows).toEqual([
      expect.objectContaining({ surface: 'agent', client: 'agent:kaiwu-demo', sessionId }),
    ]);
  });

  test('it finds, reads and executes what the catalog has', async () => {
    const sessionId = await spawn();
    const { actions } = await tool(sessionId, 'action_spec_search', { query: 'start a session' });
    expect(actions[0].id).toBe('session.spawn_new');
    const found = await tool(sessionId, 'action_options_resolve', {
      actionId: actions[0].id,
      field: 'agentId',
    });
    expect(JSON.stringify(found)).toContain('demo');
    expect(await tool(sessionId, 'action_read', { actionId: 'session.status.get' })).toMatchObject({
      sessionId,
    });
    expect(await tool(sessionId, 'action_read', { actionId: 'session.stop' })).toMatchObject({
      error: { code: 'invalid_input' },
    });
  });

  test('it starts children, lists, messages, reads and stops them', async () => {
    const root = await spawn();
    const child = await spawnInside(root);
    const grandchild = await spawnInside(child);
    const { sessions } = await act(root, 'session.list');
    expect(sessions.map(({ sessionId, depth }: Record<string, unknown>) => [sessionId, depth])).toEqual([
      [grandchild, 2],
      [child, 1],
    ]);
    const sent = { sessionId: grandchild, message: 'say hello', wait: true, timeoutSeconds: 30 };
    expect(await act(root, 'session.message.send', sent)).toMatchObject({
      status: 'completed',
      reply: 'hello',
    });
    const { events } = await act(root, 'session.transcript.get', { sessionId: grandchild });
    expect(JSON.stringify(events)).toContain('hello');
    expect(await act(root, 'session.title.set', { sessionId: child, title: 'Helper' })).toMatchObject({
      title: 'Helper',
    });
    expect(await act(root, 'session.stop', { sessionId: grandchild })).toMatchObject({ status: 'stopped' });
  });

  test('it comes to an end six deep', async () => {
    let deepest = await spawn();
    for (let depth = 1; depth <= 6; depth += 1) deepest = await spawnInside(deepest);
    expect(await api.output('session.status.get', { sessionId: deepest })).toMatchObject({ depth: 6 });
    expect(await codeOf(deepest, 'session.spawn_new', { agentId: 'demo', directory })).toBe(
      'session_too_deep',
    );
  });

  test('it reaches no other session: not a parent, not a sibling, not a stranger', async () => {
    const root = await spawn();
    const child = await spawnInside(root);
    const sibling = await spawnInside(root);
    const stranger = await spawn();
    for (const sessionId of [root, sibling, stranger]) {
      for (const [actionId, more] of [
        ['session.title.set', { title: 'Mine' }],
        ['session.message.send', { message: 'ls' }],
        ['session.transcript.get', {}],
        ['session.stop', {}],
        ['session.spawn_new', { agentId: 'demo', directory, parentSessionId: sessionId }],
      ] as const) {
        const input = actionId === 'session.spawn_new' ? more : { sessionId, ...more };
        expect([actionId, await codeOf(child, actionId, input)]).toEqual([actionId, 'forbidden']);
      }
    }
    expect(await act(child, 'session.list')).toEqual({ sessions: [] });
  });

  test('it raises no mode, gives none away, and answers nobody in the place of a person', async () => {
    const root = await spawn();
    const child = await spawnInside(root);
    const raised = 'permission_escalation_denied';
    const raise = { permissionMode: 'bypass' };
    expect(await codeOf(root, 'session.permission_mode.set', raise)).toBe(raised);
    expect(await codeOf(root, 'session.permission_mode.set', { ...raise, sessionId: child })).toBe(raised);
    expect(await codeOf(root, 'session.spawn_new', { agentId: 'demo', directory, ...raise })).toBe(raised);
    const message = { sessionId: child, message: 'ls', permissionModeOverride: 'bypass' };
    expect(await codeOf(root, 'session.message.send', message)).toBe(raised);
    await api.output('session.message.send', { sessionId: child, message: 'ask edit README' });
    await expect
      .poll(async () => (await api.output('session.status.get', { sessionId: child })).status, {
        timeout: 20_000,
      })
      .toBe('waiting');
    const answer = { sessionId: child, decision: 'allow' };
    expect(await codeOf(root, 'session.permission.respond', answer)).toBe('action_disabled');
    expect(await api.output('session.status.get', { sessionId: child })).toMatchObject({ status: 'waiting' });
    const { items } = await api.output('inbox.list', { sessionId: root });
    expect(items).toEqual([
      expect.objectContaining({
        kind: 'permission',
        sessionId: child,
        lineage: [
          expect.objectContaining({ sessionId: root }),
          expect.objectContaining({ sessionId: child }),
        ],
      }),
    ]);
  });

  test('what a grandchild asks for is in the inbox of its root, and the grandchild learns the outcome', async () => {
    const path = 'session.title.set.agent';
    await api.output('policy.set', { path, value: 'ask' });
    try {
      const root = await spawn();
      const child = await spawnInside(root);
      const grandchild = await spawnInside(child);
      const notice = await tool(grandchild, 'change_title', { title: 'Allowed' });
      expect(notice).toMatchObject({ kind: 'approval_request_created', status: 'pending' });
      const { artifactId } = notice;
      const { items } = await api.output('inbox.list', { sessionId: root });
      expect(items).toEqual([
        expect.objectContaining({
          itemId: artifactId,
          kind: 'approval',
          sessionId: grandchild,
          lineage: [root, child, grandchild].map((sessionId) => expect.objectContaining({ sessionId })),
        }),
      ]);
      const decision = { artifactId, decision: 'approve' };
      expect(await codeOf(root, 'approval.request.decide', decision)).toBe('action_disabled');
      expect(await act(root, 'approval.request.get', { artifactId })).toMatchObject({ status: 'pending' });
      await api.output('approval.request.decide', decision);
      expect(await act(grandchild, 'approval.request.get', { artifactId })).toMatchObject({
        status: 'succeeded',
      });
      expect(await codeOf(await spawn(), 'approval.request.get', { artifactId })).toBe('approval_not_found');
      expect(await api.output('session.status.get', { sessionId: grandchild })).toMatchObject({
        title: 'Allowed',
      });
    } finally {
      await api.output('policy.unset', { path: 'session.title.set' });
    }
  });

  test('a tool that the policy offers is listed for sessions that are open already', async () => {
    const sessionId = await spawn();
    await tool(sessionId, 'change_title', { title: 'First' });
    await api.output('policy.set', { path: 'session.list.agent', value: 'direct' });
    await expect
      .poll(() => tool(sessionId, 'session_list', {}), { timeout: 20_000 })
      .toEqual({ sessions: [] });
    await api.output('policy.unset', { path: 'session.list' });
  });
});
