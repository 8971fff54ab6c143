import { expect, test } from 'vitest';
import type { PermissionMode } from '../../src/core/session.ts';
import { toAgentTable } from '../../src/daemon/agents/agents.ts';
import { createWorld, fakeAgent, type World } from './helpers/world.ts';

/** Methods and values that the agent was asked for, in its own words. */
async function received(world: World, sessionId: string): Promise<string[]> {
  const { reply } = await world.turn(sessionId, 'received');
  const calls = JSON.parse(reply) as { method?: string; params: Record<string, string> }[];
  return calls.flatMap(({ method, params }) =>
    method?.startsWith('session/set') === true
      ? [`${method} ${params.modeId ?? params.modelId ?? `${params.configId}=${params.value}`}`]
      : [],
  );
}

test('a mode reaches the agent in its own words, at the start and later', async () => {
  const world = await createWorld({ agents: [fakeAgent('modes'), fakeAgent('config')] });
  await world.start('s1', 'modes', { permissionMode: 'accept_edits' });
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  expect(await received(world, 's1')).toEqual(['session/set_mode two', 'session/set_mode three']);
  expect(world.backend.events('s1').filter((event) => event.type === 'mode_changed')).toMatchObject([
    { permissionMode: 'bypass' },
  ]);

  await world.start('s2', 'config', { permissionMode: 'accept_edits', modelId: 'large' });
  expect(await received(world, 's2')).toEqual([
    'session/set_config_option m=two',
    'session/set_config_option x=large',
  ]);
  expect(await world.backend.event('s2', 'session_started')).toMatchObject({
    permissionMode: 'accept_edits',
    modelId: 'large',
    models: [{ id: 'small' }, { id: 'large' }],
  });
});

test('a mode that the agent lacks is refused by name, with those that it has', async () => {
  const world = await createWorld({ agents: [fakeAgent('modes'), fakeAgent('config')] });
  await expect(world.start('s1', 'modes', { permissionMode: 'plan' })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('plan'),
    hint: expect.stringContaining('default, accept_edits, bypass'),
  });
  // Its table knows a mode for bypass, but the agent does not offer it.
  await world.start('s2', 'config');
  await expect(
    world.backend.request('session.set_mode', { sessionId: 's2', permissionMode: 'bypass' }),
  ).rejects.toMatchObject({
    code: 'unsupported',
    details: { offered: ['default', 'accept_edits'], agentModes: ['one', 'two'] },
  });
  await expect(
    world.backend.request('session.set_mode', { sessionId: 's2', permissionMode: 'turbo' as PermissionMode }),
  ).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('turbo') });
});

test('models: set the way the agent knows, unknown ones refused by name', async () => {
  const world = await createWorld({ agents: [fakeAgent('old-models'), fakeAgent('modes')] });
  await world.start('s1', 'old-models');
  await world.backend.request('session.set_model', { sessionId: 's1', modelId: 'm2' });
  expect(await received(world, 's1')).toEqual(['session/set_model m2']);
  expect(await world.backend.event('s1', 'model_changed')).toMatchObject({ modelId: 'm2' });
  await expect(
    world.backend.request('session.set_model', { sessionId: 's1', modelId: 'm3' }),
  ).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining('m1, m2'),
  });
  await world.start('s2', 'modes');
  await expect(
    world.backend.request('session.set_model', { sessionId: 's2', modelId: 'm1' }),
  ).rejects.toMatchObject({ code: 'unsupported' });
  await expect(world.start('s3', 'old-models', { modelId: 'm9' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

test('models that an agent offers once its model has changed are told, with an agent and after', async () => {
  const world = await createWorld({ agents: [fakeAgent('other-models')] });
  await world.start('s1', 'other-models');
  const set = (modelId: string) => world.backend.request('session.set_model', { sessionId: 's1', modelId });
  await set('large');
  expect(await world.backend.event('s1', 'model_changed')).toMatchObject({
    modelId: 'large',
    models: [{ id: 'large' }, { id: 'large-next' }],
  });
  await expect(set('small')).rejects.toMatchObject({ hint: expect.stringContaining('large, large-next') });
  await world.backend.request('session.stop', { sessionId: 's1' });
  await expect(set('small')).rejects.toMatchObject({ hint: expect.stringContaining('large, large-next') });
});

test('mode and model of one message are for its turn alone', async () => {
  const world = await createWorld({ agents: [fakeAgent('config')] });
  await world.start('s1', 'config');
  await world.turn('s1', 'hi', { permissionModeOverride: 'accept_edits', modelOverride: 'large' });
  expect(await received(world, 's1')).toEqual([
    'session/set_config_option m=two',
    'session/set_config_option x=large',
    'session/set_config_option m=one',
    'session/set_config_option x=small',
  ]);
  const message = await world.backend.event('s1', 'user_message');
  expect(message).toMatchObject({ permissionMode: 'accept_edits', modelId: 'large' });
  expect(
    world.backend
      .events('s1')
      .some((event) => event.type === 'mode_changed' || event.type === 'model_changed'),
  ).toBe(false);
  expect(await world.turn('s1', 'hi', { permissionModeOverride: 'plan' })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('plan'),
  });
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed' });
});

test('a mode set while the session rests is in force when the agent starts again', async () => {
  const world = await createWorld({ agents: [fakeAgent('resumes')] });
  await world.start('s1', 'resumes');
  await world.backend.request('session.stop', { sessionId: 's1' });
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  await expect(
    world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'plan' }),
  ).rejects.toMatchObject({ code: 'unsupported' });
  expect(await received(world, 's1')).toEqual(['session/set_mode three']);
  expect(world.backend.events('s1').findLast((event) => event.type === 'session_started')).toMatchObject({
    permissionMode: 'bypass',
    resumed: 'loaded',
  });
});

test('an agent cannot loosen its own mode', async () => {
  const world = await createWorld({ agents: [fakeAgent('raises')] });
  await world.start('s1', 'raises');
  expect(JSON.parse((await world.turn('s1', 'go')).reply)).toEqual(['one']);
  expect(await world.backend.event('s1', 'notice')).toMatchObject({ text: expect.stringContaining('three') });
  expect(world.backend.events('s1').some((event) => event.type === 'mode_changed')).toBe(false);
  // However often it tries.
  for (let more = 2; more <= 5; more += 1)
    expect(JSON.parse((await world.turn('s1', 'go')).reply)).toHaveLength(more);
});

test('an agent may leave its plan when a person allows it', async () => {
  const world = await createWorld({
    agents: [fakeAgent('leaves-plan', { modes: { default: ['three'], plan: ['one'] } })],
  });
  await world.start('s1', 'leaves-plan', { permissionMode: 'plan' });
  const turn = world.turn('s1', 'go');
  const { request } = await world.backend.event('s1', 'permission_requested');
  await world.backend.request('session.answer', {
    sessionId: 's1',
    requestId: request.requestId,
    optionId: 'a1',
    by: 'app',
  });
  expect(await turn).toMatchObject({ reply: 'left' });
  expect(await world.backend.event('s1', 'mode_changed')).toMatchObject({ permissionMode: 'default' });
  expect(await received(world, 's1')).toEqual([]);
});

test('the demo agent takes each of our modes and both of its models', async () => {
  const world = await createWorld();
  await world.start('s1', 'demo', { permissionMode: 'plan', modelId: 'demo-2' });
  for (const permissionMode of ['read_only', 'accept_edits', 'bypass', 'default', 'plan'] as const) {
    await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode });
  }
  await world.backend.request('session.set_model', { sessionId: 's1', modelId: 'demo-1' });
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'read_only' });
  expect(await world.turn('s1', 'ask edit the file')).toMatchObject({ reply: 'refused' });
  await world.backend.request('session.set_mode', { sessionId: 's1', permissionMode: 'bypass' });
  expect(await world.turn('s1', 'ask edit the file')).toMatchObject({ reply: 'granted' });
});

test('the agent table, as data', () => {
  const table = toAgentTable({ execPath: '/node', path: '/demo.js', version: '1.2.3' });
  expect(table.map(({ agentId, command, args }) => [agentId, command, ...args].join(' '))).toEqual([
    'demo /node /demo.js',
    'claude claude-agent-acp',
    'codex codex-acp',
    'gemini gemini --acp',
    'opencode opencode acp',
    'kilo kilo acp',
  ]);
  for (const { agentId, install, modes, inherit } of table) {
    expect(modes).toHaveProperty('default');
    expect(inherit.filter((name) => name.startsWith('KAIWU'))).toEqual([]);
    if (agentId !== 'demo') expect(install).toMatch(/^npm install --global \S+@\d+\.\d+\.\d+$/);
  }
});
