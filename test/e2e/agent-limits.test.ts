import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { World } from '../helpers/world.ts';
import type { Api } from './helpers/api.ts';
import { type Inside, openInside } from './helpers/inside.ts';

/** Tells what it was given: the message `received` is answered with it. */
const TELLING = join(import.meta.dirname, '../daemon/fakes/agent.mjs');
const CANARY = 'c4n4ryB1rd';
const DENIED = 'permission_escalation_denied';

let world: World;
let api: Api;
let directory: string;
let say: Inside['say'];
let tool: Inside['tool'];
const open: Client[] = [];

const spawn = async (more: object = {}): Promise<string> =>
  (await api.output('session.spawn_new', { agentId: 'demo', directory, ...more })).sessionId;
/** What became of a call that the agent of a session makes. */
const act = async (sessionId: string, actionId: string, input: object) => {
  const answer = await tool(sessionId, 'action_execute', { actionId, input });
  return (answer.error?.code ?? answer.status ?? 'ok') as string;
};

/** The tools of a session as its agent has them, from outside, so that nothing of a call is a message. */
async function hold(sessionId: string): Promise<{ client: Client; bearer: string }> {
  const received = JSON.parse(await say(sessionId, 'received')) as { params?: { mcpServers?: Given[] } }[];
  const given = received.findLast(({ params }) => params?.mcpServers !== undefined)?.params?.mcpServers?.[0];
  const { url, headers } = given!;
  const client = new Client({ name: 'held', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) },
    }),
  );
  open.push(client);
  return { client, bearer: headers[0]!.value.replace('Bearer ', '') };
}
interface Given {
  url: string;
  headers: { name: string; value: string }[];
}

/** Files below the home folder that hold a text. */
const filesWith = (text: string): string[] =>
  readdirSync(world.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text))
    .map((file) => file.slice(world.home.length + 1));

beforeAll(async () => {
  ({ world, api, directory, say, tool } = await openInside({ KAIWU_LOG: 'debug' }));
  const env = ['--env', `FAKE_CAPABILITIES=${JSON.stringify({ mcpCapabilities: { http: true } })}`];
  const added = await world.cli([
    'agents',
    'add',
    'telling',
    ...env,
    '--',
    process.execPath,
    TELLING,
    'plain',
  ]);
  if (added.code !== 0) throw new Error(added.stderr);
}, 90_000);
afterAll(async () => {
  await Promise.all(open.map((client) => client.close().catch(() => undefined)));
  await world?.stop();
}, 60_000);

describe('an agent', () => {
  test('starts no session elsewhere: not by a name, not by a link, not in a strict mode', async () => {
    mkdirSync(join(directory, 'deep'));
    mkdirSync(join(world.home, 'other'));
    symlinkSync(join(world.home, 'other'), join(directory, 'link'));
    for (const permissionMode of ['default', 'read_only', 'accept_edits']) {
      const root = await spawn({ permissionMode });
      const child = { agentId: 'demo', directory: join(directory, 'deep'), permissionMode };
      for (const place of [
        '/',
        world.home,
        join(world.home, 'other'),
        join(directory, '..'),
        join(directory, 'link'),
      ]) {
        expect([place, await act(root, 'session.spawn_new', { ...child, directory: place })]).toEqual([
          place,
          DENIED,
        ]);
        const more = { ...child, additionalDirectories: [place] };
        expect([place, await act(root, 'session.spawn_new', more)]).toEqual([place, DENIED]);
      }
      expect(await act(root, 'session.spawn_new', child)).toBe('idle');
    }
    const made = { agentId: 'demo', directory: join(directory, 'link/made'), createDirectory: true };
    expect(await act(await spawn(), 'session.spawn_new', made)).toBe(DENIED);
    expect(readdirSync(join(world.home, 'other'))).toEqual([]);
  });

  test('gives no variables, and none of its values is anywhere afterwards, nor is the bearer of its tools', async () => {
    const sessionId = await spawn({ agentId: 'telling' });
    const { client, bearer } = await hold(sessionId);
    const input = {
      agentId: 'demo',
      directory,
      environment: { PATH: `${CANARY}-path`, TOKEN_X: `${CANARY}-x` },
    };
    for (const [name, args] of [
      ['action_execute', { actionId: 'session.spawn_new', input }],
      ['action_read', { actionId: 'session.spawn_new', input }],
      ['action_options_resolve', { actionId: 'session.spawn_new', field: 'modelId', input }],
    ] as const) {
      const { structuredContent } = await client.callTool({ name, arguments: args });
      expect(JSON.stringify(structuredContent)).not.toContain(CANARY);
    }
    const asked = { actionId: 'approval.request.create', input: { actionId: 'session.spawn_new', input } };
    const refused = await client.callTool({ name: 'action_execute', arguments: asked });
    expect(refused.structuredContent).toMatchObject({ error: { code: 'unsupported' } });
    // A person's are with the machine that runs it and nowhere else.
    await spawn({ environment: { STAGE: `${CANARY}-stage` } });
    const failed = await api.call('session.spawn_new', {
      agentId: 'demo',
      directory: '/nowhere/at/all',
      environment: { STAGE: `${CANARY}-failed` },
    });
    expect(JSON.stringify(failed)).not.toContain(CANARY);
    const { rows } = await api.output('audit.list', { limit: 200 });
    expect(JSON.stringify(rows)).not.toContain(CANARY);
    for (const end of ['path', 'x']) expect([end, filesWith(`${CANARY}-${end}`)]).toEqual([end, []]);
    for (const end of ['stage', 'failed']) {
      const files = filesWith(`${CANARY}-${end}`);
      expect([end, files.filter((file) => !/daemon\.db(-wal)?$/.test(file))]).toEqual([end, []]);
    }
    for (const file of filesWith(CANARY)) expect(statSync(join(world.home, file)).mode & 0o077).toBe(0);
    const { stdout, stderr } = world.output();
    expect(stdout + stderr).not.toContain(CANARY);
    expect(stdout + stderr).not.toContain(bearer);
  });

  test('whose session was lowered has no freer child work for it', async () => {
    const root = await spawn();
    const answer = await tool(root, 'action_execute', {
      actionId: 'session.spawn_new',
      input: { agentId: 'demo', directory },
    });
    await api.output('session.permission_mode.set', { sessionId: root, permissionMode: 'read_only' });
    const message = { sessionId: answer.sessionId, message: 'say x' };
    expect(await act(root, 'session.message.send', message)).toBe(DENIED);
    expect(
      await act(root, 'session.message.send', { ...message, permissionModeOverride: 'read_only' }),
    ).toMatch(/queued|running|completed/);
  });

  test('in a turn that a person held to less gives no more than that turn has', async () => {
    const root = await spawn({ permissionMode: 'accept_edits' });
    const wanted = {
      actionId: 'session.spawn_new',
      input: { agentId: 'demo', directory, permissionMode: 'accept_edits' },
    };
    const turn = await api.output('session.message.send', {
      sessionId: root,
      message: `tool action_execute ${JSON.stringify(wanted)}`,
      permissionModeOverride: 'plan',
      wait: true,
      timeoutSeconds: 40,
    });
    expect(JSON.parse(turn.reply)).toMatchObject({ error: { code: DENIED } });
  });
});
