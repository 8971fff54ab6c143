import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentInfo } from '../../../src/core/agent.ts';
import { toAgentTable } from '../../../src/daemon/agents/agents.ts';
import { createAgentRegistry } from '../../../src/daemon/agents/registry.ts';
import { openSession } from '../acp/session.ts';
import { fakeAgent, makeHome } from '../helpers/world.ts';

const PROGRAMS = ['claude-agent-acp', 'codex-acp', 'gemini', 'opencode', 'kilo'];

function put(path: string, text = 'x'): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A registry of the real agents, whose programs are there in name alone and never started. */
function createRegistry(home: string, env: Record<string, string> = {}) {
  for (const name of PROGRAMS) {
    put(join(home, 'bin', name), '#!/bin/sh\ntouch "$HOME/started"\n');
    chmodSync(join(home, 'bin', name), 0o755);
  }
  const registry = createAgentRegistry({
    table: toAgentTable({ execPath: process.execPath, path: '/demo.js', version: '0.0.0' }),
    env: { PATH: join(home, 'bin'), HOME: home, ...env },
    lastModels: () => [],
  });
  const states = () => Object.fromEntries(registry.list().map(({ agentId, state }) => [agentId, state]));
  const info = (agentId: string) => registry.list().find((one) => one.agentId === agentId) as AgentInfo;
  return { states, info };
}

const NOBODY = {
  demo: 'ready',
  claude: 'needs_setup',
  codex: 'needs_setup',
  gemini: 'needs_setup',
  opencode: 'ready',
  kilo: 'ready',
};

test('without a sign-in, agents that need one say so with the command, and are there all the same', () => {
  const { states, info } = createRegistry(makeHome());
  expect(states()).toEqual(NOBODY);
  expect(info('codex')).toMatchObject({
    available: true,
    source: 'built_in',
    setup: 'codex login',
    reason: expect.stringMatching(/^Nobody is signed in to Codex on this machine\. Run `codex login`/),
  });
  expect(info('opencode')).not.toHaveProperty('setup');
});

test('agents that are not there are told from those that lack a sign-in', () => {
  const registry = createAgentRegistry({
    table: toAgentTable({ execPath: process.execPath, path: '/demo.js', version: '0.0.0' }),
    env: { PATH: '/nowhere' },
    lastModels: () => [],
  });
  expect(registry.list().find(({ agentId }) => agentId === 'claude')).toMatchObject({
    available: false,
    state: 'not_installed',
    reason: expect.stringContaining('claude-agent-acp'),
    install: expect.stringContaining('npm install'),
    setup: expect.stringContaining('npm install'),
  });
});

test.each([
  ['claude', { ANTHROPIC_API_KEY: 'k' }],
  ['claude', { CLAUDE_CODE_OAUTH_TOKEN: 'k' }],
  ['claude', { CLAUDE_CODE_USE_BEDROCK: '1' }],
  ['codex', { OPENAI_API_KEY: 'k' }],
  ['gemini', { GEMINI_API_KEY: 'k' }],
  ['gemini', { GOOGLE_GENAI_USE_VERTEXAI: 'true' }],
])('a variable shows that somebody is signed in: %s, %o', (agentId, env) => {
  const { states } = createRegistry(makeHome(), env);
  expect(states()).toEqual({ ...NOBODY, [agentId]: 'ready' });
  expect(createRegistry(makeHome(), { [Object.keys(env)[0] as string]: '' }).states()).toEqual(NOBODY);
});

test.each([
  ['claude', '.claude/.credentials.json', '{}', {}],
  ['claude', '.claude/settings.json', '{"apiKeyHelper": "/bin/key"}', {}],
  ['claude', '.claude.json', '{"oauthAccount": {}}', {}],
  ['claude', 'elsewhere/.credentials.json', '{}', { CLAUDE_CONFIG_DIR: 'elsewhere' }],
  ['codex', '.codex/auth.json', '{}', {}],
  ['codex', '.codex/config.toml', 'model = "x"\nmodel_provider = "mine"\n', {}],
  ['codex', 'elsewhere/auth.json', '{}', { CODEX_HOME: 'elsewhere' }],
  ['gemini', '.gemini/oauth_creds.json', '{}', {}],
])('a file shows that somebody is signed in: %s, %s %s', (agentId, path, text, folders) => {
  const home = makeHome();
  const env = Object.fromEntries(Object.entries(folders).map(([name, to]) => [name, join(home, to)]));
  const { states } = createRegistry(home, env);
  expect(states()).toEqual(NOBODY);
  put(join(home, path), text);
  expect(states()).toEqual({ ...NOBODY, [agentId]: 'ready' });
  put(join(home, path), '');
  expect(states()).toEqual(NOBODY);
});

test('files that say nothing of a sign-in are none, and a folder set elsewhere hides the usual one', () => {
  const home = makeHome();
  put(join(home, '.claude/settings.json'), '{"permissions": {}}');
  put(join(home, '.claude.json'), '{"numStartups": 3}');
  put(join(home, '.codex/config.toml'), '# model_provider = "mine"\nmodel = "x"\n');
  put(join(home, '.codex/auth.json'), '{}');
  expect(createRegistry(home, { CODEX_HOME: join(home, 'empty') }).states()).toEqual(NOBODY);
});

test('what an agent said at its start counts for more than what lies about, until it starts or that changes', async () => {
  const home = makeHome();
  const key = join(home, 'key');
  const agent = fakeAgent('wants-sign-in', {
    env: { FAKE_SIGN_IN: key },
    signIn: 'Run `fake login`.',
    setup: 'fake login',
    evidence: { variables: [], files: [{ folder: 'NONE', otherwise: '', path: 'signed-in' }] },
  });
  const registry = createAgentRegistry({
    table: [agent],
    env: { PATH: process.env.PATH, HOME: home },
    lastModels: () => [],
  });
  const info = () => registry.list()[0];
  const open = () => openSession(agent, { home, agent: registry.find('wants-sign-in') });
  expect(info()).toMatchObject({ state: 'needs_setup', setup: 'fake login' });
  put(join(home, 'signed-in'));
  expect(info()).toMatchObject({ state: 'ready' });

  await expect(open()).rejects.toMatchObject({ code: 'agent_needs_setup', hint: 'Run `fake login`.' });
  expect(info()).toMatchObject({
    state: 'needs_setup',
    available: true,
    reason: expect.stringContaining('Authentication required'),
  });
  put(join(home, 'signed-in'), 'another');
  expect(info()).toMatchObject({ state: 'ready' });

  await expect(open()).rejects.toMatchObject({ code: 'agent_needs_setup' });
  expect(info()).toMatchObject({ state: 'needs_setup' });
  put(key);
  await open();
  expect(info()).toMatchObject({ state: 'ready', features: [] });
  rmSync(join(home, 'signed-in'));
  expect(info()).toMatchObject({ state: 'needs_setup' });
});

test('an agent that says so at its first prompt is not ready because it starts', async () => {
  const home = makeHome();
  const agent = fakeAgent('errors', {
    env: { FAKE_SIGN_IN: join(home, 'key') },
    evidence: { variables: ['FAKE_KEY'], files: [], missingAt: 'prompt' },
    inherit: ['FAKE_KEY'],
  });
  const registry = createAgentRegistry({
    table: [agent],
    env: { PATH: process.env.PATH, HOME: home, FAKE_KEY: 'wrong' },
    lastModels: () => [],
  });
  const state = () => registry.list()[0]?.state;
  expect(state()).toBe('ready');
  const { session } = await openSession(agent, { home, agent: registry.find('errors') });
  await expect(session.prompt('go')).rejects.toMatchObject({ code: 'agent_needs_setup' });
  expect(state()).toBe('needs_setup');
  await openSession(agent, { home, agent: registry.find('errors') });
  expect(state()).toBe('needs_setup');
  put(join(home, 'key'));
  await session.prompt('go');
  expect(state()).toBe('ready');
});
