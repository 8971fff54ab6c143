import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { groupIsGone } from './helpers/processes.ts';
import { createWorld, fakeAgent } from './helpers/world.ts';

test('noise before the first message is kept in the session’s log and does no harm', async () => {
  const world = await createWorld({ agents: [fakeAgent('noisy')] });
  await world.start('s1', 'noisy');
  expect(await world.turn('s1', 'hi')).toMatchObject({ outcome: 'completed', reply: 'fine' });
  expect(world.log('s1')).toContain('Welcome to the shell');
  expect(world.log('s1')).toContain(']0;title');
});

test('an agent that never answers fails at the limit, with what it said on stderr', async () => {
  const world = await createWorld({ agents: [fakeAgent('silent')], limits: { startMs: 700 } });
  await expect(world.start('s1', 'silent')).rejects.toMatchObject({
    code: 'agent_failed',
    message: expect.stringMatching(/not ready within 0\.7 s.*warming up for ever/s),
  });
  const failed = await world.backend.event('s1', 'session_failed');
  expect(failed.reason).toMatchObject({
    code: 'agent_failed',
    message: expect.stringContaining('warming up'),
  });
  // The same request again gets the same answer.
  await expect(world.start('s1', 'silent')).rejects.toMatchObject({ code: 'agent_failed' });
  expect(world.backend.events('s1')).toHaveLength(1);
});

test('an agent that exits at once fails soon, with its code', async () => {
  const world = await createWorld({ agents: [fakeAgent('exits')] });
  await expect(world.start('s1', 'exits')).rejects.toMatchObject({
    code: 'agent_failed',
    message: expect.stringMatching(/exited with code 3.*no such model/s),
    details: { exitCode: 3 },
  });
});

test('answers that break the protocol are the agent’s failure', async () => {
  const names = ['no-session-id', 'from-the-future', 'wants-sign-in'];
  const world = await createWorld({
    agents: names.map((name) => fakeAgent(name, { signIn: 'Run `fake login`.' })),
  });
  const messages = await Promise.all(
    names.map((name) =>
      world.start(name, name).then(
        () => 'started',
        (error: Error & { code: string }) => `${error.code} ${error.message}`,
      ),
    ),
  );
  expect(messages[0]).toMatch(/^agent_failed .*without a sessionId/);
  expect(messages[1]).toMatch(/^agent_failed .*version 99 of ACP/);
  expect(messages[2]).toMatch(/^agent_needs_setup .*nobody signed in: Authentication required/);
  expect((await world.backend.event('wants-sign-in', 'session_failed')).reason.hint).toContain('fake login');
});

test('an agent that is not installed names its install command; an unknown one the known ones', async () => {
  const world = await createWorld();
  await expect(world.start('s1', 'claude')).rejects.toMatchObject({
    code: 'agent_not_available',
    hint: expect.stringContaining('npm install --global @agentclientprotocol/claude-agent-acp@'),
  });
  await expect(world.start('s2', 'nobody')).rejects.toMatchObject({
    code: 'agent_not_available',
    hint: expect.stringContaining('demo, claude'),
  });
  const { agents } = await world.backend.request('agents.list', {});
  expect(agents.find((agent) => agent.agentId === 'demo')).toMatchObject({
    available: true,
    version: '0.0.0',
  });
  expect(agents.find((agent) => agent.agentId === 'codex')).toMatchObject({
    available: false,
    reason: expect.stringContaining('codex-acp'),
    install: expect.stringContaining('codex-acp@'),
  });
});

test('a directory that cannot be worked in is named with the reason', async () => {
  const world = await createWorld();
  const file = join(world.home, 'file');
  writeFileSync(file, '');
  const closed = join(world.home, 'closed');
  const reasons: [directory: string, reason: string][] = [
    [join(world.home, 'nowhere'), 'missing'],
    [file, 'not_a_directory'],
    [join(file, 'below'), 'not_a_directory'],
    ['relative', 'not_absolute'],
  ];
  for (const [i, [directory, reason]] of reasons.entries()) {
    await expect(world.start(`s${i}`, 'demo', { directory })).rejects.toMatchObject({
      code: 'session_directory_unavailable',
      details: { directory, reason },
    });
  }
  if (process.getuid?.() !== 0) {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(closed);
    chmodSync(closed, 0);
    await expect(world.start('closed', 'demo', { directory: closed })).rejects.toMatchObject({
      details: { reason: 'unreadable' },
    });
  }
});

test('starting again by the same id starts nothing again', async () => {
  const world = await createWorld();
  await Promise.all([world.start('s1'), world.start('s1'), world.start('s1')]);
  await world.start('s1');
  expect(world.backend.events('s1').map((event) => event.type)).toEqual(['session_started']);
});

test('a stop during the start ends the start', async () => {
  const world = await createWorld({ agents: [fakeAgent('silent')] });
  const start = world.start('s1', 'silent');
  const refused = start.catch((error: unknown) => error);
  await vi.waitFor(() => expect(world.daemon.status().sessions[0]?.pid).toBeDefined(), 10_000);
  await world.backend.request('session.stop', { sessionId: 's1' });
  expect(await refused).toMatchObject({ code: 'agent_failed' });
  expect(world.backend.events('s1').at(-1)?.type).toBe('session_stopped');
  expect(world.daemon.status().sessions).toEqual([]);
});

test('agents get a clean environment: what they need, nothing of ours but the mark of their session', async () => {
  const world = await createWorld({
    agents: [fakeAgent('env', { inherit: ['ANTHROPIC_*'], env: { GIVEN: 'default' } })],
    env: {
      ANTHROPIC_API_KEY: 'sk-ant-1234567890',
      OPENAI_API_KEY: 'sk-openai',
      KAIWU_HOME: '/home/of/kaiwu',
      KAIWU_TOKEN: 'secret',
      LC_ALL: 'C.UTF-8',
      https_proxy: 'http://proxy:1',
      IS_SANDBOX: 'yes',
    },
  });
  await world.start('s1', 'env');
  const { reply } = await world.turn('s1', 'env');
  const env = JSON.parse(reply) as Record<string, string>;
  expect(env).toMatchObject({
    ANTHROPIC_API_KEY: 'sk-ant-1234567890',
    LC_ALL: 'C.UTF-8',
    https_proxy: 'http://proxy:1',
    GIVEN: 'default',
    HOME: world.home,
    KAIWU_AGENT_SESSION: 's1',
  });
  expect(Object.keys(env).filter((name) => /KAIWU_(?!AGENT_SESSION)|OPENAI|SANDBOX/.test(name))).toEqual([]);
});

test('secrets of the environment do not reach logs or messages', async () => {
  const world = await createWorld({
    agents: [fakeAgent('talks-on-stderr', { inherit: ['ANTHROPIC_*'] })],
    env: { ANTHROPIC_API_KEY: 'sk-ant-canary-12345' },
  });
  await world.start('s1', 'talks-on-stderr');
  await vi.waitFor(() => expect(existsSync(join(world.home, 'logs', 's1.log'))).toBe(true), 10_000);
  expect(world.log('s1')).toContain('key is [secret] — 漢');
});

test('an agent that ignores the end of its input and SIGTERM is gone after a stop, with what it started', async () => {
  const world = await createWorld({ agents: [fakeAgent('stubborn')] });
  await world.start('s1', 'stubborn');
  const { reply } = await world.turn('s1', 'pid');
  await world.backend.request('session.stop', { sessionId: 's1' });
  await groupIsGone(Number(reply), 1000);
  expect(world.backend.events('s1').at(-1)).toMatchObject({ type: 'session_stopped' });
});

test('an agent hears the end of its input first and a signal only later', async () => {
  const world = await createWorld({ agents: [fakeAgent('ends-late')] });
  await world.start('s1', 'ends-late');
  await world.backend.request('session.stop', { sessionId: 's1' });
  expect(world.log('s1')).toMatch(/input ended[^]*asked to end/);
});

test('a proxy that a session is given is not between its agent and this machine', async () => {
  const world = await createWorld({ agents: [fakeAgent('env')], env: { no_proxy: 'mine' } });
  const environment = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'corp.example' };
  await world.start('s1', 'env', { environment });
  const names = 'mine,corp.example,127.0.0.1,localhost';
  expect(JSON.parse((await world.turn('s1', 'env')).reply)).toMatchObject({
    HTTPS_PROXY: 'http://proxy:3128',
    NO_PROXY: names,
    no_proxy: names,
  });
});
