import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeAgent, makeHome } from '../helpers/world.ts';
import { openSession } from './session.ts';

const able = (behaviour: string, capabilities: object) =>
  fakeAgent(behaviour, { env: { FAKE_CAPABILITIES: JSON.stringify(capabilities) } });

const EVERYTHING = {
  loadSession: true,
  promptCapabilities: { image: true },
  mcpCapabilities: { http: true },
  sessionCapabilities: { resume: {}, fork: {}, close: {}, additionalDirectories: {} },
};

test('features are what an agent says of itself, and nothing that it denies', async () => {
  const all = await openSession(able('noisy', EVERYTHING));
  expect(all.session.features).toEqual([
    'load',
    'resume',
    'fork',
    'close',
    'additional_directories',
    'images',
    'http_mcp',
  ]);
  const odd = {
    loadSession: 'yes',
    promptCapabilities: null,
    sessionCapabilities: { fork: null, close: [] },
  };
  expect((await openSession(able('noisy', odd))).session.features).toEqual(['close']);
  expect((await openSession(fakeAgent('noisy'))).session.features).toEqual([]);
});

test('what an agent does not advertise is refused by name before a conversation is opened', async () => {
  const home = makeHome();
  const additionalDirectories = [join(home, 'more')];
  await expect(openSession(fakeAgent('noisy'), { additionalDirectories })).rejects.toMatchObject({
    code: 'unsupported',
    message: 'Fake noisy cannot work in additional directories.',
  });
  await expect(openSession(fakeAgent('noisy'), { forkOf: 'fake' })).rejects.toMatchObject({
    code: 'unsupported',
    message: 'Fake noisy cannot go on with a copy of a conversation.',
  });
  const { session } = await openSession(fakeAgent('noisy'));
  await expect(session.steer('now')).rejects.toMatchObject({ code: 'unsupported' });
});

test('a copy is asked for with everything that a new conversation gets', async () => {
  const home = makeHome();
  const more = join(home, 'more');
  mkdirSync(more);
  const { session, heard, directory } = await openSession(able('noisy', EVERYTHING), {
    home,
    forkOf: 'fake',
    additionalDirectories: [more],
    environment: { FLAVOUR: 'vanilla' },
  });
  expect(session).toMatchObject({ resumed: 'forked', acpSessionId: 'fake-fork' });
  await session.prompt('received');
  const received = JSON.parse(heard.reply()) as { method: string; params: unknown }[];
  expect(received.map(({ method }) => method)).toEqual(['initialize', 'session/fork', 'session/prompt']);
  expect(received[0]?.params).toMatchObject({
    clientCapabilities: { elicitation: { form: {} }, session: { configOptions: { boolean: {} } } },
  });
  expect(received[1]?.params).toEqual({
    sessionId: 'fake',
    cwd: directory,
    mcpServers: [],
    additionalDirectories: [more],
  });
  await session.prompt('env');
  expect(JSON.parse(heard.reply())).toMatchObject({ FLAVOUR: 'vanilla', KAIWU_AGENT_SESSION: 's1' });
});

test('MCP servers over HTTP are given as such, by their stand-in, or not at all', async () => {
  const http = { type: 'http' as const, url: 'http://127.0.0.1:9/mcp', headers: [] };
  const fallback = { command: '/bin/cat', args: ['-u'], env: [{ name: 'A', value: 'b' }] };
  const mcpServers = [
    { name: 'plain', command: '/bin/true', args: [], env: [] },
    { name: 'both', ...http, fallback },
    { name: 'bare', ...http },
  ];
  const given = async (capabilities: object) => {
    const { session, heard } = await openSession(able('noisy', capabilities), { mcpServers });
    await session.prompt('received');
    const [, opened] = JSON.parse(heard.reply()) as { params: { mcpServers: unknown } }[];
    return { servers: opened?.params.mcpServers, output: heard.output };
  };
  expect(await given({ mcpCapabilities: { http: true } })).toMatchObject({
    servers: [mcpServers[0], { name: 'both', ...http }, { name: 'bare', ...http }],
  });
  const without = await given({});
  expect(without.servers).toEqual([mcpServers[0], { name: 'both', ...fallback }]);
  expect(without.output).toContain('cannot use the MCP server bare');
});

test('an agent that can closes its conversation before it ends; one that does not answer is ended all the same', async () => {
  const polite = await openSession(able('noisy', { sessionCapabilities: { close: {} } }));
  await polite.session.end('enough');
  expect(await polite.session.exited).toMatchObject({
    code: 0,
    because: 'enough',
    stderrTail: 'closed fake',
  });
  const stuck = await openSession(able('never-closes', { sessionCapabilities: { close: {} } }));
  await stuck.session.end('enough');
  expect(await stuck.session.exited).toMatchObject({ because: 'enough', stderrTail: 'closed fake' });
});

test('a secret that a session was given is in no error', async () => {
  const { session } = await openSession(fakeAgent('errors'), { environment: { ODD_NAME: 'Authentication' } });
  await expect(session.prompt('go')).rejects.toMatchObject({
    code: 'agent_needs_setup',
    message: 'Fake errors has nobody signed in: [secret] required (no key)',
  });
});

test('a key of the environment is put to use where the agent wants to be told so', async () => {
  const agent = fakeAgent('wants-sign-in', { keySignIn: { methodId: 'key', variables: ['FAKE_KEY'] } });
  await expect(openSession(agent)).rejects.toMatchObject({ code: 'agent_needs_setup' });
  const { session, heard } = await openSession(agent, { environment: { FAKE_KEY: 'k' } });
  await session.prompt('received');
  const methods = JSON.parse(heard.reply()).map(({ method }: { method: string }) => method);
  expect(methods.slice(0, 4)).toEqual(['initialize', 'session/new', 'authenticate', 'session/new']);
});

test('a secret that an agent prints in pieces is not put together in a log', async () => {
  const { session, heard } = await openSession(fakeAgent('talks-in-pieces'), {
    environment: { PASSPHRASE: 'swordfish-99' },
  });
  await session.prompt('go');
  await session.end();
  expect((await session.exited).stderrTail).toBe('key is [secret] and that is it');
  expect(heard.output).toBe('key is [secret] and that is it');
});

test('what MCP servers are given to prove who asks is in no log', async () => {
  const bearer = 'b34r3r-0123456789';
  const key = 'k3y-0123456789';
  const { session, heard } = await openSession(fakeAgent('repeats-on-stderr'), {
    mcpServers: [
      {
        type: 'http',
        name: 'web',
        url: 'http://127.0.0.1:9/mcp',
        headers: [{ name: 'Authorization', value: `Bearer ${bearer}` }],
        fallback: { command: '/bin/true', args: [], env: [{ name: 'WEB_TOKEN', value: bearer }] },
      },
      { name: 'local', command: '/bin/true', args: [], env: [{ name: 'API_KEY', value: key }] },
    ],
  });
  await session.prompt(`${bearer} ${key} plain\n`);
  await session.end();
  expect((await session.exited).stderrTail).toBe('[secret] [secret] plain');
  expect(heard.output).not.toMatch(/0123456789/);
});
