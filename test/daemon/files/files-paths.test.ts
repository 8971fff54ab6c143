import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../../src/core/errors.ts';
import { type OpenFile, openInWorkspace } from '../../../src/daemon/files/open-file.ts';

let place: string;
let workspace: string;
let server: Server;
const LIMIT = 1000;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'kaiwu-files-'));
  workspace = join(place, 'ws');
  await mkdir(join(workspace, 'sub'), { recursive: true });
  await mkdir(join(place, 'ws-sibling'));
  await mkdir(join(place, 'outside'));
  const files = {
    'ws/a.txt': 'inside',
    'ws/sub/b.txt': 'below',
    'ws-sibling/c.txt': 'beside',
    'outside/secret': 'secret',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
  const links = {
    secret: '../outside/secret',
    folder: '../outside',
    chain: 'chain-2',
    'chain-2': 'chain-3',
    'chain-3': '/etc/passwd',
    loop: 'loop-2',
    'loop-2': 'loop',
    dangling: 'nowhere',
    'dangling-out': '../outside/nowhere',
    environ: '/proc/self/environ',
    inside: 'sub/b.txt',
    'inside-absolute': join(workspace, 'a.txt'),
    'folder-inside': 'sub',
    root: '.',
    self: workspace,
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(workspace, name));
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  server = createServer().listen(join(workspace, 'socket'));
});
afterAll(async () => {
  server.close();
  await rm(place, { recursive: true, force: true });
});

async function outcome(path: string, limit = LIMIT): Promise<string> {
  let file: OpenFile | undefined;
  try {
    file = await openInWorkspace(workspace, path, limit);
    const parts: Buffer[] = [];
    for await (const part of file.read()) parts.push(part);
    return Buffer.concat(parts).toString();
  } catch (error) {
    if (!(error instanceof KaiwuError)) throw error;
    return error.code;
  } finally {
    await file?.close();
  }
}

describe('a path', () => {
  it.each([
    ['a.txt', 'inside'],
    ['./sub/../a.txt', 'inside'],
    ['sub/b.txt', 'below'],
    ['inside', 'below'],
    ['inside-absolute', 'inside'],
    ['folder-inside/b.txt', 'below'],
    ['root/root/a.txt', 'inside'],
    ['self/sub/b.txt', 'below'],
  ])('%s inside is read', async (path, text) => {
    expect(await outcome(path)).toBe(text);
  });

  it('is read when it is absolute and lies inside', async () => {
    expect(await outcome(join(workspace, 'sub/b.txt'))).toBe('below');
  });

  it.each([
    ['../outside/secret', 'access_denied'],
    ['../ws/a.txt', 'access_denied'],
    ['../nothing', 'access_denied'],
    ['sub/../../outside/secret', 'access_denied'],
    ['folder-inside/../../outside/secret', 'access_denied'],
    ['/etc/passwd', 'access_denied'],
    ['/etc/nothing-there', 'access_denied'],
    ['/proc/self/environ', 'access_denied'],
    ['/dev/zero', 'access_denied'],
    ['/dev/stdin', 'access_denied'],
    ['../ws-sibling/c.txt', 'access_denied'],
    ['secret', 'access_denied'],
    ['folder/secret', 'access_denied'],
    ['folder', 'access_denied'],
    ['chain', 'access_denied'],
    ['environ', 'access_denied'],
    ['dangling-out', 'access_denied'],
    ['NUL', 'access_denied'],
    ['con.txt', 'access_denied'],
    ['sub/COM1', 'access_denied'],
    ['C:\\Windows\\win.ini', 'access_denied'],
    ['\\\\server\\share', 'access_denied'],
    ['a\0.txt', 'access_denied'],
    ['nothing', 'file_not_found'],
    ['nothing/below', 'file_not_found'],
    ['a.txt/below', 'file_not_found'],
    ['dangling', 'file_not_found'],
    ['loop', 'file_read_error'],
    ['sub', 'is_directory'],
    ['.', 'is_directory'],
    ['self', 'is_directory'],
    ['pipe', 'not_a_file'],
    ['socket', 'not_a_file'],
    ['x'.repeat(300), 'file_read_error'],
  ])('%j is refused with %s at once', async (path, code) => {
    const begun = performance.now();
    expect(await outcome(path)).toBe(code);
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('in a workspace that is gone is refused with session_directory_unavailable', async () => {
    await expect(openInWorkspace(join(place, 'gone'), 'a.txt', LIMIT)).rejects.toMatchObject({
      code: 'session_directory_unavailable',
    });
    await expect(openInWorkspace(join(place, 'gone'), '../x', LIMIT)).rejects.toMatchObject({
      code: 'session_directory_unavailable',
    });
  });

  it('to a sibling by the absolute path that only begins like the workspace is refused', async () => {
    expect(await outcome(join(place, 'ws-sibling/c.txt'))).toBe('access_denied');
    expect(await outcome(`${workspace}/../outside/secret`)).toBe('access_denied');
  });

  it('that is swapped for a link again and again never gives what lies outside', async () => {
    const folder = join(workspace, 'swap');
    const away = join(workspace, 'swap-away');
    await mkdir(folder);
    await writeFile(join(folder, 'secret'), 'mine');
    const swapping = new AbortController();
    const swaps = (async () => {
      while (!swapping.signal.aborted) {
        await rename(folder, away);
        await symlink('../outside', folder);
        await rm(folder);
        await rename(away, folder);
      }
    })();
    const seen = new Set<string>();
    for (let i = 0; i < 300; i++) seen.add(await outcome('swap/secret'));
    swapping.abort();
    await swaps;
    expect([...seen].filter((text) => !['mine', 'access_denied', 'file_not_found'].includes(text))).toEqual(
      [],
    );
  });
});

describe('a size', () => {
  it.each([
    [0, 'ok'],
    [LIMIT - 1, 'ok'],
    [LIMIT, 'ok'],
    [LIMIT + 1, 'file_too_large'],
  ])('of %d bytes under a limit of 1000: %s', async (bytes, expected) => {
    await writeFile(join(workspace, 'sized'), 'x'.repeat(bytes));
    const text = await outcome('sized');
    expect(text.length === bytes && expected === 'ok' ? 'ok' : text).toBe(expected);
  });

  it('of 5 GiB, sparse, is refused before it is read', async () => {
    await writeFile(join(workspace, 'sparse'), '');
    await truncate(join(workspace, 'sparse'), 5 * 1024 ** 3);
    const before = process.memoryUsage().rss;
    const error = await openInWorkspace(workspace, 'sparse', 100_000_000).catch((cause: KaiwuError) => cause);
    expect(error).toMatchObject({ code: 'file_too_large' });
    expect((error as KaiwuError).message).toMatch(/sparse.*5368709120.*100000000/);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
    await rm(join(workspace, 'sparse'));
  });

  it('that grows past the limit while it is read is refused then; what grows below it is read to its end', async () => {
    const path = join(workspace, 'growing');
    await writeFile(path, 'x'.repeat(10));
    const file = await openInWorkspace(workspace, 'growing', 1000);
    await writeFile(path, 'y'.repeat(900));
    let bytes = 0;
    for await (const part of file.read()) bytes += part.length;
    expect(bytes).toBe(900);
    await writeFile(path, 'z'.repeat(1001));
    const again = (async () => {
      for await (const _part of file.read());
    })();
    await expect(again).rejects.toMatchObject({ code: 'file_too_large' });
    await file.close();
  });
});
