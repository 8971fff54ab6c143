import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../../src/core/errors.ts';
import { createFiles } from '../../../src/daemon/files/files.ts';
import { openInWorkspace } from '../../../src/daemon/files/open-file.ts';
import { bundle } from '../helpers/bundle.ts';
import { collectLog } from '../helpers/world.ts';

let place: string;
let workspace: string;
const socket = createServer();
const LIMIT = 1000;
const NOBODY = 65_534;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'kaiwu-refusals-'));
  workspace = join(place, 'ws');
  await mkdir(join(workspace, 'folder'), { recursive: true });
  await mkdir(join(workspace, 'locked-folder'));
  await mkdir(join(place, 'outside'));
  await writeFile(join(place, 'outside/secret'), 'secret');
  await writeFile(join(workspace, 'fine.txt'), 'fine');
  await writeFile(join(workspace, 'locked.txt'), 'locked');
  await writeFile(join(workspace, 'locked-large.bin'), 'x'.repeat(LIMIT + 1));
  await writeFile(join(workspace, 'locked-folder/inner.txt'), 'inner');
  execFileSync('mkfifo', [join(workspace, 'locked-pipe'), join(workspace, 'pipe')]);
  socket.listen(join(workspace, 'socket'));
  for (const name of ['locked.txt', 'locked-large.bin', 'locked-folder', 'locked-pipe']) {
    await chmod(join(workspace, name), 0);
  }
  await chmod(place, 0o755);
});
afterAll(async () => {
  socket.close();
  await rm(place, { recursive: true, force: true });
});

async function codeOf(path: string, limit = LIMIT): Promise<string> {
  try {
    await (await openInWorkspace(workspace, path, limit)).close();
    return 'ok';
  } catch (error) {
    return error instanceof KaiwuError ? error.code : String(error);
  }
}

const PROGRAM = `
  const [, at, root, path] = process.argv;
  const { openInWorkspace } = await import(at);
  await openInWorkspace(root, path, ${LIMIT}).then(() => console.log('ok'), ({ code }) => console.log(code));
`;

/** Nothing is closed to root: what a daemon of an ordinary user meets is asked in a process of one. */
async function codeForAnybody(path: string): Promise<string> {
  const program = join(place, 'open-file.mjs');
  await copyFile(await bundle('src/daemon/files/open-file.ts'), program);
  const args = ['--input-type=module', '-e', PROGRAM, program, workspace, path];
  const isRoot = process.geteuid?.() === 0;
  const options = { encoding: 'utf8', cwd: place, env: {}, ...(isRoot ? { uid: NOBODY } : {}) } as const;
  return execFileSync(process.execPath, args, options).trim();
}

describe('of several reasons the first one is told', () => {
  it.each([
    ['no path, before an unknown workspace', '  ', 'nowhere', 'invalid_input'],
    ['an unknown workspace, before a path out of it', '../x', 'nowhere', 'session_directory_unavailable'],
    ['a path out of the workspace, before that nothing is there', '../nothing', 's1', 'access_denied'],
    ['a path out of the workspace, before what kind it is', '../outside', 's1', 'access_denied'],
    ['a path that is too large, last', 'large', 's1', 'file_too_large'],
  ])('%s', async (_, path, sessionId, code) => {
    await writeFile(join(workspace, 'large'), 'x'.repeat(LIMIT + 1));
    const directory = sessionId === 's1' ? workspace : join(place, 'gone');
    const files = createFiles({
      journal: {
        session: () => ({ directory }) as never,
        running: () => undefined,
        append: () => [],
      },
      log: collectLog([]),
      files: {
        maxBytes: LIMIT,
        ownRecipient: async () => undefined,
        upload: () => Promise.reject(new Error('nothing may be uploaded')),
        commit: () => Promise.reject(new Error('nothing may be told')),
      },
    });
    await expect(files.look({ sessionId, path })).rejects.toMatchObject({ code });
    const send = files.send({ sessionId, path, fileId: 'file_1', recipient: 'age1' });
    await expect(send).rejects.toMatchObject({ code });
  });

  it.each([
    ['fine.txt', 'ok'],
    ['locked.txt', 'file_read_error'],
    ['locked-folder', 'file_read_error'],
    ['locked-folder/inner.txt', 'file_read_error'],
    ['locked-pipe', 'file_read_error'],
    ['locked-large.bin', 'file_read_error'],
    ['locked.txt/below', 'file_not_found'],
  ])(
    'what is closed to the user of the daemon is, before what kind or size it is: %s is %s',
    async (path, code) => {
      expect(await codeForAnybody(path)).toBe(code);
    },
  );

  it.each([
    ['folder', 'is_directory'],
    ['pipe', 'not_a_file'],
    ['socket', 'not_a_file'],
  ])('what kind it is, before how large: %s is %s', async (path, code) => {
    expect(await codeOf(path, 0)).toBe(code);
  });
});

describe('a device', () => {
  it('that lies in the workspace is never opened, let alone read', async ({ skip }) => {
    try {
      execFileSync('mknod', [join(workspace, 'zero'), 'c', '1', '5'], { stdio: 'ignore' });
    } catch {
      skip('this user cannot make a device');
    }
    const begun = performance.now();
    const before = process.memoryUsage().rss;
    expect(await codeOf('zero')).toBe('not_a_file');
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });
});

/** Takes turns: there is always something, and each change is one step. */
const SWAPPER = `
  const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
  const [, file] = process.argv;
  for (let i = 0; ; i++) {
    if (i % 2 === 0) writeFileSync(file + '.next', 'mine');
    else symlinkSync('../outside/secret', file + '.next');
    renameSync(file + '.next', file);
    if (i === 1) process.stdout.write('begun');
  }
`;

describe('a file', () => {
  it('that is swapped for a link again and again never gives what lies outside', async () => {
    // In a process of its own, so that it happens between any two steps of ours.
    const swapper = spawn(process.execPath, ['-e', SWAPPER, join(workspace, 'swap.txt')], { env: {} });
    const ended = once(swapper, 'close');
    await once(swapper.stdout, 'data');
    const seen = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      try {
        const opened = await openInWorkspace(workspace, 'swap.txt', LIMIT);
        for await (const part of opened.read()) seen.add(part.toString());
        await opened.close();
      } catch (error) {
        seen.add(error instanceof KaiwuError ? error.code : String(error));
      }
    }
    swapper.kill('SIGKILL');
    await ended;
    expect(seen).toContain('mine');
    expect(seen).toContain('access_denied');
    const allowed = ['mine', 'access_denied', 'file_not_found'];
    expect([...seen].filter((text) => !allowed.includes(text))).toEqual([]);
  });
});
