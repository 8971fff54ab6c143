import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_TREE_AT_WORK } from '../../src/core/session.ts';
import { demoAgent } from './helpers/fake-daemon.ts';
import type { Json } from './helpers/json.ts';
import { letAgentsSpawn, openSessions, type SessionWorld } from './helpers/session-world.ts';
import { errorOf } from './helpers/world.ts';

let t: SessionWorld;
beforeEach(async () => {
  const permissionModes = ['default', 'plan', 'read_only', 'accept_edits', 'bypass'] as const;
  t = await openSessions({ agents: [{ ...demoAgent, permissionModes: [...permissionModes] }] });
  await letAgentsSpawn(t);
});
afterEach(() => t.end());

const DENIED = 'permission_escalation_denied';
const spawnAs = (agent: string, more: object = {}) =>
  t.asAgent(agent, 'session.spawn_new', { ...t.input, ...more });
const childOf = async (agent: string, more: object = {}): Promise<string> =>
  ((await spawnAs(agent, more)) as Json).output.sessionId;
const codeOf = async (agent: string, actionId: string, given: object) => {
  const envelope: Json = await t.asAgent(agent, actionId, given);
  return envelope.error?.code ?? envelope.status;
};

describe('what an agent gives to a session that it starts', () => {
  it('is no variable, unless it asks nobody anyway', async () => {
    const agent = await t.agentToken(await t.spawn());
    for (const name of [
      'PATH',
      'GIT_SSH_COMMAND',
      'ANTHROPIC_BASE_URL',
      'OPENCODE_CONFIG_CONTENT',
      'STAGE',
    ]) {
      const error = errorOf(await spawnAs(agent, { environment: { [name]: 'CANARY-value' } }));
      expect([name, error.code]).toEqual([name, DENIED]);
      expect(JSON.stringify(error)).not.toContain('CANARY');
    }
    const free = await t.agentToken(await t.spawn({ permissionMode: 'bypass' }));
    expect(await spawnAs(free, { environment: { STAGE: 'test' } })).toMatchObject({ status: 'ok' });
  });

  it('is no other machine', async () => {
    const { daemon, world, token } = t;
    const agent = await t.agentToken(await t.spawn({ permissionMode: 'bypass' }));
    await world.daemon(token, { machineId: 'mach_two', instanceId: 'instance-2', agents: [demoAgent] });
    expect(errorOf(await spawnAs(agent, { machineId: 'mach_two' })).code).toBe(DENIED);
    expect(await spawnAs(agent, { machineId: 'mach_one' })).toMatchObject({ status: 'ok' });
    expect(daemon.requests.filter(({ method }) => method === 'session.start')).toHaveLength(2);
  });

  it('is what a person approved', async () => {
    const agent = await t.agentToken(await t.spawn({ permissionMode: 'read_only' }));
    const input = { ...t.input, directory: '/elsewhere', permissionMode: 'accept_edits' };
    const asked: Json = await t.asAgent(agent, 'approval.request.create', {
      actionId: 'session.spawn_new',
      input,
    });
    const decided = await t.ok('approval.request.decide', {
      artifactId: asked.output.artifactId,
      decision: 'approve',
    });
    expect(decided).toMatchObject({ result: { status: 'ok', output: { directory: '/elsewhere' } } });
    expect(t.asked('session.start').within).toBeUndefined();
  });
});

describe('what an agent has another session do', () => {
  it('is no more than it may itself, when a person has lowered it or raised the other', async () => {
    const root = await t.spawn();
    const agent = await t.agentToken(root);
    const child = await childOf(agent);
    const send = { sessionId: child, message: 'x' };
    expect(await codeOf(agent, 'session.message.send', send)).toBe('ok');
    await t.ok('session.permission_mode.set', { sessionId: child, permissionMode: 'bypass' });
    for (const delivery of ['queue', 'interrupt', 'steer'])
      expect(await codeOf(agent, 'session.message.send', { ...send, delivery })).toBe(DENIED);
    expect(await codeOf(agent, 'session.fork', { sessionId: child })).toBe(DENIED);
    const held = { ...send, permissionModeOverride: 'default' };
    expect(await codeOf(agent, 'session.message.send', held)).toBe('ok');
    await t.ok('session.permission_mode.set', { sessionId: root, permissionMode: 'read_only' });
    expect(await codeOf(agent, 'session.message.send', held)).toBe(DENIED);
  });

  it('is no more than the message allows that it works on', async () => {
    const root = await t.spawn({ permissionMode: 'bypass' });
    const agent = await t.agentToken(root);
    const child = await childOf(agent, { permissionMode: 'bypass' });
    await t.ok('session.message.send', {
      sessionId: root,
      message: 'hold',
      permissionModeOverride: 'read_only',
    });
    await expect.poll(async () => (await t.session(root)).status).toBe('running');
    const free = { permissionMode: 'bypass' };
    expect(await codeOf(agent, 'session.spawn_new', { ...t.input, ...free })).toBe(DENIED);
    expect(await codeOf(agent, 'session.message.send', { sessionId: child, message: 'x' })).toBe(DENIED);
    expect(await codeOf(agent, 'session.message.send', { message: 'x' })).toBe(DENIED);
    const run = { intent: 'delegate', instructions: 'x' };
    const started: Json = await t.asAgent(agent, 'execution.run.start', { ...run, ...free });
    expect(errorOf(started).code).toBe(DENIED);
    expect(await codeOf(agent, 'session.spawn_new', { ...t.input, permissionMode: 'read_only' })).toBe('ok');
  });

  it('is no further turn of a run that is freer by now', async () => {
    const root = await t.spawn({ permissionMode: 'accept_edits' });
    const agent = await t.agentToken(root);
    const started: Json = await t.asAgent(agent, 'execution.run.start', {
      intent: 'delegate',
      instructions: 'x',
    });
    const { runId } = started.output;
    await t.ok('session.permission_mode.set', { sessionId: root, permissionMode: 'read_only' });
    expect(await codeOf(agent, 'execution.run.send', { runId, message: 'x' })).toBe(DENIED);
    expect(await codeOf(agent, 'execution.run.stop', { runId })).toBe('ok');
  });
});

describe('sessions at work below one root', () => {
  it('are so many and no more for an agent, however many it starts at once', async () => {
    const root = await t.spawn();
    const agent = await t.agentToken(root);
    const envelopes: Json[] = await Promise.all(
      Array.from({ length: MAX_TREE_AT_WORK + 8 }, () => spawnAs(agent)),
    );
    const started = envelopes.filter(({ status }) => status === 'ok');
    expect(started).toHaveLength(MAX_TREE_AT_WORK - 1);
    const error = errorOf(envelopes.find(({ status }) => status === 'error'));
    expect(error).toMatchObject({ code: 'rate_limited', details: { max: MAX_TREE_AT_WORK } });
    // Not below a child either, nor by waking one that rests.
    const [first, second] = started.map(({ output }) => output.sessionId as string);
    expect(errorOf(await spawnAs(await t.agentToken(first!))).code).toBe('rate_limited');
    expect(await codeOf(agent, 'session.stop', { sessionId: second })).toBe('ok');
    expect(await spawnAs(agent)).toMatchObject({ status: 'ok' });
    expect(await codeOf(agent, 'session.message.send', { sessionId: second, message: 'x' })).toBe(
      'rate_limited',
    );
    // A person may.
    await t.spawn({ parentSessionId: root });
  });
});

it('a setting of a session, which may be a permission, is asked about for hosts and is nothing for agents', async () => {
  const sessionId = await t.spawn();
  const given = { sessionId, configId: 'thought', value: 'high' };
  const asked: Json = await t.world.call(t.token, 'session.config_option.set', given, { surface: 'mcp' });
  expect(asked.status).toBe('approval_required');
  expect(await codeOf(await t.agentToken(sessionId), 'session.config_option.set', given)).toBe(
    'action_disabled',
  );
});
