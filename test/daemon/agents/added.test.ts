import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KaiwuError } from '../../../src/core/errors.ts';
import { toAddedAgent } from '../../../src/daemon/agents/added.ts';
import { createAgentRegistry } from '../../../src/daemon/agents/registry.ts';
import { openSession } from '../acp/session.ts';
import { fakeAgent, makeHome } from '../helpers/world.ts';

const FAKE = join(import.meta.dirname, '../fakes/agent.mjs');
const mine = (behaviour: string, more: Partial<Parameters<typeof toAddedAgent>[1]> = {}) =>
  toAddedAgent('mine', { command: process.execPath, args: [FAKE, behaviour], ...more });

const registryOf = (added: () => ReturnType<typeof mine>[], env: Record<string, string> = {}) =>
  createAgentRegistry({
    table: [fakeAgent('noisy')],
    added,
    env: { PATH: process.env.PATH, HOME: makeHome(), ...env },
    lastModels: () => [],
  });

test('added agents are listed and found as the file has them now; those that come with Kaiwu win', async () => {
  let agents: ReturnType<typeof mine>[] = [];
  const registry = registryOf(() => agents);
  expect(registry.list().map(({ agentId }) => agentId)).toEqual(['noisy']);
  expect(() => registry.find('mine')).toThrow('There is no agent "mine".');
  agents = [mine('own-modes'), { ...mine('own-modes'), agentId: 'noisy' }];
  expect(registry.list()).toMatchObject([
    { agentId: 'noisy', source: 'built_in' },
    { agentId: 'mine', source: 'added', state: 'ready', permissionModes: ['default'] },
  ]);
  await registry.learnVersions();
  expect(registry.list()[1]).not.toHaveProperty('version');
  expect(registry.find('mine')).toMatchObject({ command: process.execPath });
});

test('a damaged file makes the added agents unusable and nothing else', () => {
  let damaged = true;
  const registry = registryOf(() => {
    if (damaged) throw new KaiwuError('state_damaged', 'agents.json cannot be used');
    return [mine('own-modes')];
  });
  expect(registry.list().map(({ agentId }) => agentId)).toEqual(['noisy']);
  expect(() => registry.find('mine')).toThrow('agents.json cannot be used');
  damaged = false;
  expect(registry.list()).toMatchObject([{}, { agentId: 'mine', available: true, state: 'ready' }]);
  damaged = true;
  expect(registry.list()[1]).toMatchObject({
    agentId: 'mine',
    available: false,
    state: 'needs_setup',
    reason: 'agents.json cannot be used',
  });
  expect(() => registry.find('mine')).toThrow('agents.json cannot be used');
  expect(registry.find('noisy').definition.agentId).toBe('noisy');
});

test('an agent that was removed is still known to its sessions, and starts no more', () => {
  let agents = [mine('own-modes')];
  const registry = registryOf(() => agents);
  registry.list();
  agents = [];
  expect(registry.describe('mine').name).toBe('mine');
  expect(registry.list()).toHaveLength(1);
  expect(() => registry.find('mine')).toThrow('There is no agent "mine".');
});

test('its environment is the common part and its own, which wins and is told to nobody', async () => {
  const secret = 'swordfish-99';
  const definition = mine('errors', { env: { HOME: '/own/home', PASSPHRASE: secret } });
  const registry = registryOf(() => [definition], { ANTHROPIC_API_KEY: 'k', KAIWU_TOKEN: 't', TZ: 'UTC' });
  const found = registry.find('mine');
  expect(found.env).toMatchObject({ HOME: '/own/home', PASSPHRASE: secret, TZ: 'UTC' });
  expect(Object.keys(found.env)).not.toContain('ANTHROPIC_API_KEY');
  expect(Object.keys(found.env)).not.toContain('KAIWU_TOKEN');
  expect(JSON.stringify(registry.list())).not.toContain(secret);

  const talks = mine('talks-on-stderr', { env: { ANTHROPIC_API_KEY: secret, OTHER: 'key is' } });
  const { session, heard } = await openSession(talks);
  await session.end();
  expect((await session.exited).stderrTail).toContain('[secret] [secret]');
  expect(heard.output).not.toContain(secret);
});

test('its modes are those that its sessions show by names that are known', async () => {
  const home = makeHome();
  const definition = mine('own-modes');
  const registry = registryOf(() => [definition]);
  const open = (permissionMode: 'default' | 'bypass' | 'accept_edits') =>
    openSession(definition, { home, permissionMode, agent: registry.find('mine') });
  await expect(open('accept_edits')).rejects.toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining('bypass'),
  });
  const { session, heard } = await open('bypass');
  expect(registry.list()[1]?.permissionModes).toEqual(['default', 'plan', 'read_only', 'bypass']);
  await session.setMode('default');
  await session.prompt('received');
  const modes = JSON.parse(heard.reply()).flatMap(
    ({ method, params }: { method: string; params: { modeId: string } }) =>
      method === 'session/set_mode' ? [params.modeId] : [],
  );
  // The mode that it starts in has a name that nobody knows, and is its default.
  expect(modes).toEqual(['yolo', 'careful']);
});

test('a mode that the person named is taken and no other', async () => {
  const definition = mine('own-modes', { modes: { bypass: 'careful' } });
  const registry = registryOf(() => [definition]);
  expect(registry.list()[1]?.permissionModes).toEqual(['default', 'bypass']);
  const { session, heard } = await openSession(definition, { permissionMode: 'bypass' });
  await session.prompt('received');
  expect(heard.reply()).not.toContain('yolo');
  // It started in what the person calls bypass: that is no default.
  await expect(session.setMode('default')).rejects.toMatchObject({ code: 'unsupported' });
});

test('no agent is started to be listed', () => {
  const home = makeHome();
  const started = join(home, 'started');
  const definition = toAddedAgent('mine', { command: '/usr/bin/touch', args: [started] });
  const registry = registryOf(() => [definition]);
  registry.list();
  registry.find('mine');
  expect(existsSync(started)).toBe(false);
});
