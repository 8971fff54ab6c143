import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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

test('before it has run it has what the person named; then what it offers, until it is another program', async () => {
  const home = makeHome();
  const definition = mine('own-modes', { modes: { bypass: 'turbo' } });
  let agents = [definition];
  const registry = registryOf(() => agents);
  const info = () => registry.list()[1];
  expect(info()).toMatchObject({ permissionModes: ['default', 'bypass'] });
  const open = (permissionMode: 'bypass' | 'plan' | 'accept_edits') =>
    openSession(definition, { home, permissionMode, agent: registry.find('mine') });
  await expect(open('bypass')).rejects.toMatchObject({
    code: 'unsupported',
    message:
      'mine has no mode for bypass: it offers careful, plan, yolo; --mode bypass=turbo names none of them.',
    hint: expect.stringMatching(/^Use one of default, plan, read_only, or add it again/),
    details: { offered: ['default', 'plan', 'read_only'] },
  });
  expect(info()).toMatchObject({
    permissionModes: ['default', 'plan', 'read_only'],
    state: 'ready',
    reason: 'it offers careful, plan, yolo; --mode bypass=turbo names none of them.',
  });
  await expect(open('accept_edits')).rejects.toMatchObject({ message: 'mine has no mode for accept_edits.' });
  await open('plan');
  agents = [mine('noisy')];
  expect(info()).toMatchObject({ permissionModes: ['default'] });
  expect(info()).not.toHaveProperty('features');
});

test('an agent whose last start failed says so until one succeeds', async () => {
  const home = makeHome();
  const folder = join(home, 'bin');
  mkdirSync(folder);
  const program = join(folder, 'agent');
  const write = (text: string) => writeFileSync(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const definition = toAddedAgent('mine', { command: program, args: [] });
  const registry = registryOf(() => [definition]);
  const open = (signal?: AbortSignal) =>
    openSession(definition, { home, agent: registry.find('mine'), ...(signal && { signal }) });
  write('exit 3');
  await expect(open(AbortSignal.abort())).rejects.toMatchObject({ code: 'agent_failed' });
  expect(registry.list()[1]).not.toHaveProperty('reason');
  await expect(open()).rejects.toMatchObject({ code: 'agent_failed' });
  expect(registry.list()[1]).toMatchObject({
    state: 'ready',
    reason: expect.stringMatching(/^its last start failed: mine .*3/),
  });
  write(`exec '${process.execPath}' '${FAKE}' own-modes`);
  await open();
  expect(registry.list()[1]).not.toHaveProperty('reason');
});

test('a path that starts nothing is told as what it is', () => {
  const home = makeHome();
  const text = join(home, 'x.js');
  writeFileSync(text, '', { mode: 0o644 });
  const reasonOf = (command: string) => {
    const registry = registryOf(() => [toAddedAgent('mine', { command, args: [] })]);
    return registry.list()[1]?.reason;
  };
  expect(reasonOf('/nowhere/x.js')).toBe('mine is not installed: there is no file /nowhere/x.js.');
  expect(reasonOf(text)).toBe(`mine is not installed: ${text} is not executable (chmod +x).`);
  expect(reasonOf(home)).toBe(`mine is not installed: ${home} is no file.`);
  expect(reasonOf('nosuchprogram')).toContain('there is no program nosuchprogram on the daemon’s PATH');
});
