import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRuntimeWorld, isReady, namesOf, textOf } from './runtime-world.ts';

const modules = join(import.meta.dirname, '../../node_modules');
const EVERYTHING = join(modules, '@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js');
const PLAYWRIGHT = join(modules, '@playwright/mcp/cli.js');

const program = (key: string, ...args: string[]) => ({
  key,
  config: { name: key, command: process.execPath, args },
});

test('server-everything over stdio: listed, called, canceled, many at once', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([program('everything', EVERYTHING, 'stdio')]);
  const state = await world.until('everything', isReady);
  expect(state).toMatchObject({ protocolVersion: '2025-11-25', starts: 1, warnings: [] });
  expect(namesOf(state.tools)).toContain('echo');
  expect(textOf(await world.call('everything', 'echo', { message: '— 漢' }))).toContain('— 漢');
  const sums = await Promise.all(
    Array.from({ length: 12 }, (_, b) => world.call('everything', 'get-sum', { a: 1000, b })),
  );
  sums.forEach((sum, b) => expect(textOf(sum)).toContain(String(1000 + b)));
  expect(await world.call('everything', 'get-structured-content', { location: 'New York' })).toMatchObject({
    structuredContent: { temperature: expect.any(Number) as number },
  });
  const image = await world.call('everything', 'get-tiny-image');
  expect(image.content.map(({ type }) => type)).toContain('image');
  const cancel = new AbortController();
  const long = world.call(
    'everything',
    'trigger-long-running-operation',
    { duration: 30, steps: 3 },
    cancel.signal,
  );
  setImmediate(() => cancel.abort());
  await expect(long).rejects.toMatchObject({ code: 'canceled' });
  for (let i = 0; i < 5; i += 1) {
    expect(await world.call('everything', 'no-such-tool')).toMatchObject({ isError: true });
  }
  expect(world.state('everything')).toMatchObject({ status: 'ready', starts: 1 });
  expect(textOf(await world.call('everything', 'echo', { message: 'still here' }))).toContain('still here');
});

test.each([
  ['streamableHttp', 'mcp', 'http'],
  ['sse', 'sse', 'sse'],
])('server-everything over %s: listed and called', async (mode, path, transport) => {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await new Promise<void>((resolve) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/(listening|running) on port/i.test(said)) resolve();
    });
  });
  const world = createRuntimeWorld();
  const url = `http://127.0.0.1:${port}/${path}`;
  world.runtime.apply([{ key: 'everything', config: { name: 'everything', url } }]);
  expect(await world.until('everything', isReady)).toMatchObject({ transport });
  const calls = Array.from({ length: 12 }, (_, i) =>
    world.call('everything', 'echo', { message: `no ${i}` }),
  );
  (await Promise.all(calls)).forEach((result, i) => expect(textOf(result)).toContain(`no ${i}`));
});

test('server-filesystem: reads what lies in its folder, refuses the rest', async () => {
  const world = createRuntimeWorld();
  const folder = join(world.folder, 'shared');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.txt'), 'content of a');
  world.runtime.apply([program('files', FILESYSTEM, folder)]);
  const { tools } = await world.until('files', isReady);
  expect(namesOf(tools)).toEqual(expect.arrayContaining(['read_text_file', 'write_file']));
  const read = (path: string) => world.call('files', 'read_text_file', { path });
  expect(textOf(await read(join(folder, 'a.txt')))).toBe('content of a');
  expect(await read('/etc/passwd')).toMatchObject({ isError: true });
});

test('the Playwright server: its tools are listed', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([program('browser', PLAYWRIGHT, '--headless', '--isolated')]);
  const { tools } = await world.until('browser', isReady);
  expect(namesOf(tools)).toEqual(expect.arrayContaining(['browser_navigate', 'browser_click']));
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
