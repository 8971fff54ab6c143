import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KAIWU, makeFolder, runKaiwu } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { connectMcp, type Generation, GENERATIONS, type McpHost } from './helpers/mcp-host.ts';

const open: { close(): Promise<void> }[] = [];
let world: World;
let workspace: string;

const connect = (args: string[] = [], generation: Generation = 'legacy') =>
  connectMcp(world.env, { args, generation, onEnd: (client) => void open.push(client) });

async function spawnDemo(host: McpHost, title = 'A session'): Promise<string> {
  const spawned = await host.ok('session_spawn_new', { agentId: 'demo', directory: workspace, title });
  return spawned['sessionId'] as string;
}

beforeAll(async () => {
  world = await startWorld();
  workspace = join(world.home, 'project');
  mkdirSync(workspace);
}, 90_000);

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 90_000);

describe('policy and approvals', () => {
  const setPolicy = async (rules: object) => {
    const { json, stderr } = await world.cli([
      'action',
      'exec',
      'policy.set',
      '--input',
      JSON.stringify({ rules }),
      '--json',
    ]);
    expect({ status: json?.status, stderr }).toMatchObject({ status: 'ok' });
  };

  test.each(GENERATIONS)('a change reaches a host of %s, and its next call', async (_, generation) => {
    const host = await connect([], generation);
    expect(await host.names()).toContain('session_archive');
    let changed = host.listChanged();
    await setPolicy({ 'session.archive': { mcp: { enabled: false } } });
    await changed;
    expect(await host.names()).not.toContain('session_archive');
    expect(await host.error('session_archive', { sessionId: 'sess_x' })).toMatchObject({
      code: 'action_disabled',
      details: { reason: 'disabled_by_policy' },
    });
    changed = host.listChanged();
    await setPolicy({ 'session.archive': null });
    await changed;
    expect(await host.names()).toContain('session_archive');
  });

  test('a gated call files a request, which runs once when a person approves it', async () => {
    const host = await connect();
    const sessionId = await spawnDemo(host, 'Gated');
    await setPolicy({ 'session.title.set': { mcp: { approval: true } } });
    const bound = await connect(['--session', sessionId]);
    const asked = await bound.ok('change_title', { title: 'Approved' });
    expect(asked).toMatchObject({
      kind: 'approval_request_created',
      actionId: 'session.title.set',
      status: 'pending',
      artifactId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { artifactId } = asked;
    const waiting = host.ok('action_execute', {
      actionId: 'approval.request.get',
      input: { artifactId, waitSeconds: 40 },
    });
    const { json } = await world.cli(['approval', 'request', 'decide', artifactId, 'approve', '--json']);
    expect(json.status).toBe('ok');
    expect(await waiting).toMatchObject({ artifactId, status: 'succeeded' });
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: 'Approved' });
    await world.cli(['session', 'title', 'set', sessionId, 'Later']);
    await world.cli(['approval', 'request', 'decide', artifactId, 'approve', '--json']);
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: 'Later' });
    const denied = await world.cli(['approval', 'request', 'decide', artifactId, 'deny', '--json']);
    expect(denied.json.error.code).toBe('approval_already_decided');
    await setPolicy({ 'session.title.set': null });
  });
});

describe('several at once', () => {
  test('two hosts, an older one and the command line see one state', async () => {
    const first = await connect();
    const second = await connect([], { pin: '2026-07-28' });
    const older = new OlderClient({ name: 'older', version: '1' });
    open.push(older);
    const server = { command: process.execPath, args: [KAIWU, 'mcp', 'start'], env: world.env };
    await older.connect(new OlderTransport({ ...server, stderr: 'ignore' }));
    const sessionId = await spawnDemo(first, 'Shared');
    await second.ok('session_message_send', { sessionId, message: 'say shared', wait: true });
    const { structuredContent } = await older.callTool({
      name: 'session_status_get',
      arguments: { sessionId },
    });
    const { json } = await world.cli(['session', 'status', 'get', sessionId, '--json']);
    expect(structuredContent).toEqual(json.output);
    expect(await first.ok('session_status_get', { sessionId })).toEqual(json.output);
  });

  test('calls of two hosts to one session run in order, none lost', async () => {
    const hosts = [await connect(), await connect()];
    const sessionId = await spawnDemo(hosts[0]!);
    const sent = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        hosts[i % 2]!.ok('session_message_send', { sessionId, message: `say n${i}`, wait: true }),
      ),
    );
    expect(sent.map(({ reply }) => reply)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5']);
  });
});

describe('a backend that is killed', () => {
  test('is started again, and hosts go on with the state of before', async () => {
    const host = await connect();
    const sessionId = await spawnDemo(host, 'Survivor');
    await host.client.listTools();
    process.kill(backendPid(), 'SIGKILL');
    await expect
      .poll(async () => (await host.client.callTool({ name: 'session_list', arguments: {} })).isError, {
        timeout: 30_000,
      })
      .toBeUndefined();
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: 'Survivor' });
    expect((await host.client.listTools()).tools.length).toBeGreaterThan(10);
  });
});

describe('a machine without a daemon', () => {
  test('lists the same tools and says how to start it', async () => {
    const home = await makeFolder('kaiwu-no-daemon-');
    const env = { ...world.env, KAIWU_HOME: home };
    const backend = spawn(process.execPath, [KAIWU, 'backend', 'start'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      await expect
        .poll(async () => (await runKaiwu(['auth', 'login', '--json'], { env })).code, { timeout: 30_000 })
        .toBe(0);
      const host = await connectMcp(env, { onEnd: (client) => void open.push(client) });
      const { tools } = await (await connect()).client.listTools();
      expect((await host.client.listTools()).tools).toEqual(tools);
      const error = await host.error('session_spawn_new', { agentId: 'demo', directory: home });
      expect(error).toMatchObject({
        code: 'daemon_not_running',
        hint: expect.stringMatching(/daemon start.*The daemon of this machine is stopped/),
      });
    } finally {
      const gone = new Promise((resolve) => backend.once('close', resolve));
      backend.kill('SIGTERM');
      await gone;
      await rm(home, { recursive: true, force: true });
    }
  });
});

function backendPid(): number {
  const listing = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(world.pid)]).toString();
  const line = listing.split('\n').find((text) => text.includes('backend'));
  return Number(/\d+/.exec(line ?? '')?.[0]);
}
