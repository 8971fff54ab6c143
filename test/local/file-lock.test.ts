import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireProcessLock, withFileLock } from '../../src/local/file-lock.ts';
import { makeFolder } from '../helpers/kaiwu.ts';

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => rm(folder, { recursive: true }));

const holder = join(import.meta.dirname, 'fakes/lock-holder.ts');

describe('a lock', () => {
  it('refuses a second owner, names the first, and is free after kill -9', async () => {
    const path = join(folder, 'a.lock');
    const child = fork(holder, [path], { execArgv: ['--import', 'tsx'] });
    await once(child, 'message');
    await expect(acquireProcessLock(path)).rejects.toMatchObject({
      code: 'conflict',
      details: { pid: child.pid },
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await acquireProcessLock(path)).release();
  });

  it('can be taken again after its release, in one process too', async () => {
    const path = join(folder, 'b.lock');
    const first = await acquireProcessLock(path);
    await expect(acquireProcessLock(path)).rejects.toMatchObject({
      code: 'conflict',
      details: { pid: process.pid },
    });
    first.release();
    first.release();
    (await acquireProcessLock(path)).release();
  });

  it('lets one at a time through, and frees itself when the work throws', async () => {
    const path = join(folder, 'c.lock');
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
      throw new Error('on purpose');
    };
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => withFileLock(path, work, 30_000)),
    );
    expect(results.map((result) => (result as PromiseRejectedResult).reason.message)).toEqual(
      Array(20).fill('on purpose'),
    );
    expect(most).toBe(1);
  });

  it('is given up after its time, naming the owner', async () => {
    const path = join(folder, 'd.lock');
    const held = await acquireProcessLock(path);
    await expect(withFileLock(path, async () => 1, 100)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    held.release();
  });
});
