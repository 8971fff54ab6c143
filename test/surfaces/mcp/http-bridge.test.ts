import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpWorld, onEnd, startHttpWorld } from './helpers/http-world.ts';

let folder: string;
let bridge: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-bridge-'));
  bridge = join(folder, 'session-tools-bridge.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../../../src/app/session-tools-bridge.ts')],
    outfile: bridge,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const commandOf = ({ http, bearer }: HttpWorld) => ({
  command: process.execPath,
  args: [bridge],
  env: { KAIWU_TOOLS_URL: http.url, KAIWU_TOOLS_BEARER: bearer },
  stderr: 'inherit' as const,
});

/** The bridge alone, line by line. */
function startBridge(world: HttpWorld): {
  child: ChildProcess;
  say(line: unknown): void;
  heard(): Promise<unknown>;
} {
  const { command, args, env } = commandOf(world);
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  onEnd(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  let text = '';
  const waiting: ((value: unknown) => void)[] = [];
  const lines: unknown[] = [];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    for (let cut = text.indexOf('\n'); cut !== -1; cut = text.indexOf('\n')) {
      const line: unknown = JSON.parse(text.slice(0, cut));
      text = text.slice(cut + 1);
      const next = waiting.shift();
      if (next === undefined) lines.push(line);
      else next(line);
    }
  });
  return {
    child,
    say: (line) => child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    heard: () =>
      lines.length > 0 ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve)),
  };
}

test('it is small', async () => {
  expect((await stat(bridge)).size).toBeLessThan(8000);
});

test.each([
  ['legacy', 'legacy' as const],
  ['negotiated', 'auto' as const],
  ['pinned to 2026-07-28', { pin: '2026-07-28' }],
])('v2, %s: lists, calls, follows progress', async (_, mode) => {
  const world = await startHttpWorld({ timing: { progressMs: 5 } });
  const client = new Client2({ name: 'Some Host', version: '3' }, { versionNegotiation: { mode } });
  onEnd(() => client.close());
  await client.connect(new Stdio2(commandOf(world)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('change_title');
  let finish = () => {};
  const told = new Promise<void>((resolve) => {
    finish = resolve;
  });
  world.backend.answer = async ({ input }) => {
    await told;
    return { status: 'ok', output: { input } };
  };
  const text = 'zwei Zeilen\nund ein 🦊';
  const result = await client.callTool(
    { name: 'session_list', arguments: { text } },
    { onprogress: () => finish() },
  );
  expect(result.structuredContent).toEqual({ input: { text } });
  expect(world.backend.calls.at(-1)?.context.client).toBe('mcp:some-host');
});

test('v1: lists, calls, hears of changes, takes a call back', async () => {
  const world = await startHttpWorld();
  const client = new Client1({ name: 'older-host', version: '1' });
  onEnd(() => client.close());
  const changed = new Promise<void>((resolve) =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  );
  await client.connect(new Stdio1(commandOf(world)));
  await client.listTools();
  await expect.poll(() => world.backend.streams.size).toBe(1);
  world.backend.setPolicy({ 'session.list': { mcp: { enabled: false } } });
  await changed;
  const controller = new AbortController();
  const ended = new Promise<void>((resolve) => {
    world.backend.answer = (_call, signal) => {
      controller.abort();
      return new Promise((answer) =>
        signal.addEventListener('abort', () => {
          resolve();
          answer({ status: 'ok', output: {} });
        }),
      );
    };
  });
  const call = client.callTool({ name: 'change_title', arguments: {} }, undefined, {
    signal: controller.signal,
  });
  expect(await call.catch(() => 'given up')).toBe('given up');
  await ended;
  expect(world.backend.requests.some((name) => name.includes('/withdraw'))).toBe(true);
});

test('each request is answered, also when the session has ended or the line is no message', async () => {
  const world = await startHttpWorld();
  const { say, heard } = startBridge(world);
  say('{');
  expect(await heard()).toMatchObject({ id: null, error: { code: -32700 } });
  say({ jsonrpc: '2.0', id: 'a', method: 'nope' });
  expect(await heard()).toMatchObject({ id: 'a', error: { code: -32601 } });
  say({ jsonrpc: '1.0', id: 'b', method: 'tools/list' });
  expect(await heard()).toMatchObject({ id: 'b', error: { code: -32600 } });
  world.shut();
  say({ jsonrpc: '2.0', id: 3, method: 'tools/list' });
  expect(await heard()).toMatchObject({ id: 3, error: { message: 'Unauthorized' } });
  await world.http.close();
  say({ jsonrpc: '2.0', id: 4, method: 'tools/list' });
  expect(await heard()).toMatchObject({ id: 4, error: { code: -32000 } });
});

test('it ends with its input, after what was asked is answered', async () => {
  const world = await startHttpWorld();
  const { child, say, heard } = startBridge(world);
  const exit = once(child, 'exit');
  say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'session_list' } });
  child.stdin!.end();
  expect(await heard()).toMatchObject({ id: 1, result: { structuredContent: { actionId: 'session_list' } } });
  expect(await exit).toEqual([0, null]);
});
