import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KAIWU } from '../helpers/kaiwu.ts';
import { isAlive, type Seen } from '../helpers/processes.ts';
import { codeOf, type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

const MEBIBYTE = 1024 * 1024;
const SIZE = 100 * MEBIBYTE;

let world: FilesWorld;
beforeAll(async () => {
  world = await startFilesWorld();
  // Nothing that a compressing disk or a shortcut could make small.
  await pipeline(
    function* () {
      for (let i = 0; i < SIZE / MEBIBYTE; i++) yield randomBytes(MEBIBYTE);
    },
    createWriteStream(join(world.workspace, 'large.bin')),
  );
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

const stateOf = (name: 'backend' | 'daemon'): Seen => {
  const file = name === 'backend' ? 'backend/backend.json' : 'profiles/local/daemon.json';
  return JSON.parse(readFileSync(join(world.home, file), 'utf8')) as Seen;
};

/** Most memory that a process ever had, MiB. */
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

const blobs = () => readdir(join(world.home, 'backend/blobs'));

/** Saves a file in a process whose memory is watched. */
async function saveWatched(fileId: string, path: string) {
  const child = spawn(process.execPath, [KAIWU, 'file', 'get', fileId, '--output', path], {
    env: world.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let [stderr, peak] = ['', 0];
  const ended = new AbortController();
  child.stderr.on('data', (part) => (stderr += part));
  const closed = once(child, 'close').finally(() => ended.abort());
  while (!ended.signal.aborted) {
    try {
      peak = Math.max(peak, peakOf(child.pid!));
    } catch {
      break;
    }
    await Promise.race([sleep(20), closed]);
  }
  const [code] = await closed;
  return { code: code as number, stderr, peak };
}

describe('100 MB', () => {
  it('go through all of it in constant memory', async () => {
    const before = { daemon: peakOf(stateOf('daemon').pid), backend: peakOf(stateOf('backend').pid) };
    const sent = await world.ok('file.send', { sessionId: world.sessionId, path: 'large.bin' });
    expect(sent.sizeBytes).toBe(SIZE);
    const path = join(world.home, 'large.saved');
    const { code, stderr, peak } = await saveWatched(String(sent.fileId), path);
    expect([code, stderr]).toEqual([0, expect.stringContaining('104.9 of 104.9 MB')]);
    expect(await digestOf(path)).toBe(await digestOf(join(world.workspace, 'large.bin')));
    expect(peakOf(stateOf('daemon').pid) - before.daemon).toBeLessThan(80);
    expect(peakOf(stateOf('backend').pid) - before.backend).toBeLessThan(80);
    expect(peak).toBeLessThan(220);
    await rm(path);
  }, 120_000);

  it('and a byte are refused', async () => {
    const { truncate } = await import('node:fs/promises');
    const path = join(world.workspace, 'larger.bin');
    await pipeline([], createWriteStream(path));
    await truncate(path, SIZE + 1);
    const envelope = await world.send({ path: 'larger.bin' });
    expect(envelope).toMatchObject({ error: { code: 'file_too_large', details: { maxBytes: SIZE } } });
  });
});

/** Sends the large file and calls back once some of it is at the backend. */
async function sendUntilHalf(then: () => void) {
  const before = new Set(await blobs());
  const sent = world.send({ path: 'large.bin' }).catch((error: Error) => error.message);
  for (;;) {
    const part = (await blobs()).find((name) => !before.has(name));
    if (part !== undefined) {
      const info = await stat(join(world.home, 'backend/blobs', part)).catch(() => undefined);
      if ((info?.size ?? 0) > 5 * MEBIBYTE) break;
    }
    await sleep(2);
  }
  then();
  return sent;
}

const listed = async () =>
  ((await world.ok('file.list', {})).files as { fileId: string }[]).map((f) => f.fileId);

describe('in the middle of an upload', () => {
  it('a daemon that is killed leaves nothing behind, and the file can be sent again', async () => {
    const daemon = stateOf('daemon');
    const known = await listed();
    const outcome = await sendUntilHalf(() => process.kill(daemon.pid, 'SIGKILL'));
    expect(codeOf(outcome as Exclude<typeof outcome, string>)).toMatch(/machine_offline|daemon_not_running/);
    expect(await listed()).toEqual(known);
    expect((await blobs()).toSorted()).toEqual(known.toSorted());
    await expect.poll(() => world.send({ path: 'large.bin' }).then(codeOf), { timeout: 60_000 }).toBe('ok');
  }, 120_000);

  it('a backend that is killed knows of no half file afterwards, and removes it', async () => {
    const backend = stateOf('backend');
    const known = await listed();
    await sendUntilHalf(() => process.kill(backend.pid, 'SIGKILL'));
    await expect.poll(() => isAlive(backend)).toBe(false);
    await expect
      .poll(() => stateOf('backend').pid !== backend.pid && blobs(), { timeout: 30_000 })
      .toBeTruthy();
    await expect.poll(async () => (await blobs()).toSorted(), { timeout: 30_000 }).toEqual(known.toSorted());
    expect(await listed()).toEqual(known);
    await expect.poll(() => world.send({ path: 'large.bin' }).then(codeOf), { timeout: 60_000 }).toBe('ok');
  }, 120_000);
});
