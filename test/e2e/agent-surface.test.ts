import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';

/** Stands in for agents that tell what they were given: the message `received` is answered with it. */
const TELLING = join(import.meta.dirname, '../daemon/fakes/agent.mjs');

interface Given {
  name: string;
  url?: string;
  headers?: { name: string; value: string }[];
  command?: string;
  args?: string[];
  env?: { name: string; value: string }[];
}

let world: World;
let api: Api;
let directory: string;

const spawn = async (agentId = 'demo', more = {}): Promise<string> =>
  (await api.output('session.spawn_new', { agentId, directory, ...more })).sessionId;

async function say(sessionId: string, message: string): Promise<string> {
  const turn = await api.output('session.message.send', {
    sessionId,
    message,
    wait: true,
    timeoutSeconds: 50,
  });
  if (turn.status !== 'completed') throw new Error(`${message}: ${JSON.stringify(turn)}`);
  return turn.reply as string;
}

/** Has the demo agent of a session call a tool of its own MCP servers. */
// oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
const tool = async (sessionId: string, name: string, input: unknown): Promise<any> =>
  JSON.parse(await say(sessionId, `tool ${name} ${JSON.stringify(input)}`));
const act = (sessionId: string, actionId: string, input: unknown = {}) =>
  tool(sessionId, 'action_execute', { actionId, input });
const codeOf = async (sessionId: string, actionId: string, input: unknown = {}) => {
  const answer = await act(sessionId, actionId, input);
  return (answer.error?.code ?? 'ok') as string;
};
const spawnInside = async (sessionId: string): Promise<string> =>
  (await act(sessionId, 'session.spawn_new', { agentId: 'demo', directory })).sessionId;

/** The MCP server that the agent of a session was given, as that agent tells it. */
async function givenTo(sessionId: string): Promise<Given> {
  const received = JSON.parse(await say(sessionId, 'received')) as {
    method?: string;
    params?: { mcpServers?: Given[] };
  }[];
  const opened = received.findLast(({ params }) => params?.mcpServers !== undefined);
  expect(opened?.params?.mcpServers).toHaveLength(1);
  return opened!.params!.mcpServers![0]!;
}

async function connect(given: Given): Promise<Client> {
  const client = new Client({ name: 'held-outside', version: '1' });
  const pairs = (list: { name: string; value: string }[] = []) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  await client.connect(
    given.url === undefined
      ? new StdioClientTransport({ command: given.command!, args: given.args!, env: pairs(given.env) })
      : new StreamableHTTPClientTransport(new URL(given.url), {
          requestInit: { headers: pairs(given.headers) },
        }),
  );
  return client;
}

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  directory = join(world.home, 'project');
  mkdirSync(directory);
  for (const [name, http] of [
    ['over-http', true],
    ['over-stdio', false],
  ] as const) {
    const capabilities = JSON.stringify({
      loadSession: true,
      ...(http ? { mcpCapabilities: { http } } : {}),
    });
    const command = ['--', process.execPath, TELLING, 'plain'];
    const given = ['--env', `FAKE_CAPABILITIES=${capabilities}`];
    const added = await world.cli(['agents', 'add', name, ...given, ...command]);
    if (added.code !== 0) throw new Error(added.stderr);
  }
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

describe('the bearer of a session', () => {
  test.each(['over-http', 'over-stdio'])(
    '%s: is good while its agent runs, and no longer',
    async (agentId) => {
      const sessionId = await spawn(agentId);
      const given = await givenTo(sessionId);
      expect(given.name).toBe('kaiwu');
      expect(given.url === undefined).toBe(agentId === 'over-stdio');
      expect(JSON.stringify(given)).not.toMatch(/kw_|sess_/);
      const client = await connect(given);
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
      const titled = { name: 'change_title', arguments: { title: 'Held' } };
      expect((await client.callTool(titled)).structuredContent).toMatchObject({ sessionId, title: 'Held' });
      await api.output('session.stop', { sessionId });
      await expect(client.callTool(titled)).rejects.toThrow(/Unauthorized|cannot be reached/i);
      await client.close().catch(() => undefined);
      await expect(connect(given)).rejects.toThrow(/Unauthorized|cannot be reached/i);
    },
  );

  test('while the backend is away its tools are listed and its calls answered, and they work when it is back', async () => {
    const known = await connect(await givenTo(await spawn('over-http')));
    const fresh = await connect(await givenTo(await spawn('over-http')));
    const titled = { name: 'change_title', arguments: { title: 'Held' } };
    expect((await known.callTool(titled)).isError).toBeUndefined();
    const { pid } = JSON.parse(readFileSync(join(world.home, 'backend/backend.json'), 'utf8')) as {
      pid: number;
    };
    // Nobody starts it again meanwhile.
    process.kill(world.pid, 'SIGSTOP');
    try {
      process.kill(pid, 'SIGKILL');
      for (const client of [known, fresh]) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
        const { structuredContent, isError } = await client.callTool(titled);
        expect(isError).toBe(true);
        expect(['backend_unreachable', 'machine_offline']).toContain(
          (structuredContent as { error: { code: string } }).error.code,
        );
      }
    } finally {
      process.kill(world.pid, 'SIGCONT');
    }
    const call = async (client: Client) => (await client.callTool(titled)).isError ?? false;
    for (const client of [known, fresh]) {
      await expect.poll(() => call(client), { timeout: 40_000 }).toBe(false);
      await client.close();
    }
  });

  test('a new start of the daemon gives a new one', async () => {
    const told = await spawn('over-http');
    const demo = await spawn();
    const before = await givenTo(told);
    await tool(demo, 'change_title', { title: 'Before' });
    const state = join(world.home, 'profiles/local/daemon.json');
    const pidNow = () => {
      try {
        return (JSON.parse(readFileSync(state, 'utf8')) as { pid: number }).pid;
      } catch {
        return undefined;
      }
    };
    const pid = pidNow()!;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => pidNow() ?? pid, { timeout: 40_000 }).not.toBe(pid);
    await expect(connect(before)).rejects.toThrow(/fetch failed|ECONNREFUSED|Unauthorized/i);
    expect(await tool(demo, 'change_title', { title: 'After' })).toMatchObject({ title: 'After' });
    const after = await givenTo(told);
    expect(after.headers).not.toEqual(before.headers);
    const client = await connect(after);
    expect((await client.listTools()).tools).not.toEqual([]);
    await client.close();
  });
});
