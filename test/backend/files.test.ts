import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Blobs, createBlobs } from '../../src/backend/blobs/blobs.ts';
import { createQuota } from '../../src/backend/blobs/quota.ts';
import { createUploads, type Uploads } from '../../src/backend/blobs/uploads.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let folder: string;
let blobs: Blobs;
let uploads: Uploads;
const LIMIT = 100_000;

beforeEach(async () => {
  world = await openWorld();
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-blobs-'));
  blobs = createBlobs(folder);
  uploads = openUploads();
});
afterEach(async () => {
  await world.end();
  await rm(folder, { recursive: true, force: true });
});

/** What a backend opens that is started on this store. */
const openUploads = (room = 10 * LIMIT) => {
  const { files } = world.store;
  const quota = createQuota({ maxBytes: room, storedBytes: files.storedBytes });
  return createUploads({ blobs, files, maxBytes: LIMIT, quota });
};

const FILE = { fileId: 'file_one', sessionId: 'sess_one', machineId: 'mach_one' };
const DESCRIPTION = { sizeBytes: 5, sealed: 'c2VhbGVk' };

async function* stream(...parts: (string | Error)[]) {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

describe('an upload', () => {
  it('is a file once it is whole and described', async () => {
    await uploads.during(FILE, async () => {
      expect(await uploads.take('file_one', stream('he', 'llo'))).toEqual({ storedBytes: 5 });
      expect(await world.store.files.get('file_one')).toBeUndefined();
      await uploads.commit('file_one', DESCRIPTION);
      await uploads.commit('file_one', DESCRIPTION);
    });
    expect(await world.store.files.get('file_one')).toEqual({
      ...FILE,
      ...DESCRIPTION,
      storedBytes: 5,
      createdAt: expect.any(String),
    });
    expect(await readFile(join(folder, 'file_one'), 'utf8')).toBe('hello');
  });

  it('that was not described leaves nothing', async () => {
    await uploads.during(FILE, () => uploads.take('file_one', stream('hello')));
    expect(await readdir(folder)).toEqual([]);
  });

  it('whose machine goes away at the very end is there, and is not to be sent again', async () => {
    const during = uploads.during(FILE, async () => {
      await uploads.take('file_one', stream('hello'));
      await uploads.commit('file_one', DESCRIPTION);
      throw new KaiwuError('machine_offline', 'gone');
    });
    await expect(during).rejects.toMatchObject({ code: 'conflict', details: { fileId: 'file_one' } });
    expect(await world.store.files.get('file_one')).toBeDefined();
    expect(await readdir(folder)).toEqual(['file_one']);
  });

  it('that breaks off can begin again; the later one counts', async () => {
    await uploads.during(FILE, async () => {
      const broken = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      await expect(uploads.take('file_one', stream('wrong', broken))).rejects.toMatchObject({
        code: 'canceled',
      });
      await expect(uploads.commit('file_one', DESCRIPTION)).rejects.toMatchObject({ code: 'conflict' });
      await uploads.take('file_one', stream('hello'));
      await uploads.commit('file_one', DESCRIPTION);
    });
    expect(await readFile(join(folder, 'file_one'), 'utf8')).toBe('hello');
    expect(await readdir(folder)).toEqual(['file_one']);
  });

  it('that nobody waits for is refused, before and after', async () => {
    await expect(async () => uploads.take('file_one', stream('x'))).rejects.toMatchObject({
      code: 'not_found',
    });
    await uploads.during(FILE, async () => undefined);
    await expect(async () => uploads.take('file_one', stream('x'))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(uploads.commit('file_one', DESCRIPTION)).rejects.toMatchObject({ code: 'not_found' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('beyond the limit ends there', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536);
      }
    }
    await uploads.during(FILE, async () => {
      await expect(uploads.take('file_one', endless())).rejects.toMatchObject({ code: 'file_too_large' });
    });
    expect(given).toBeLessThan(LIMIT + 200_000);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is still running when the call ends is cut off', async () => {
    let taken: Promise<unknown> | undefined;
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    async function* slow() {
      yield Buffer.from('a');
      await gate;
      yield Buffer.from('b');
    }
    const during = uploads.during(FILE, async () => {
      taken = uploads.take('file_one', slow());
      taken.catch(() => undefined);
    });
    go();
    await during;
    await expect(taken).rejects.toMatchObject({ code: expect.stringMatching(/canceled|not_found/) });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the room for all files', () => {
  const send = (to: Uploads, fileId: string, text: string) =>
    to.during({ ...FILE, fileId }, async () => {
      await to.take(fileId, stream(text));
      await to.commit(fileId, DESCRIPTION);
    });

  it('is filled to its last byte, and not by one more', async () => {
    const small = openUploads(10);
    await send(small, 'file_one', 'x'.repeat(7));
    await expect(send(small, 'file_two', 'x'.repeat(4))).rejects.toMatchObject({
      code: 'storage_full',
      hint: expect.stringContaining('kaiwu file remove'),
      details: { maxBytes: 10 },
    });
    expect(await readdir(folder)).toEqual(['file_one']);
    expect(await small.usage()).toEqual({ usedBytes: 7, maxBytes: 10 });
    await send(small, 'file_three', 'x'.repeat(3));
    // Nobody's machine is asked to read and encrypt for nothing.
    let asked = false;
    const refused = small.during({ ...FILE, fileId: 'file_four' }, async () => void (asked = true));
    await expect(refused).rejects.toMatchObject({ code: 'storage_full' });
    expect(asked).toBe(false);
  });

  it('counts what is on its way, and lets go of what did not arrive', async () => {
    const small = openUploads(10);
    await small.during(FILE, async () => {
      await small.take('file_one', stream('x'.repeat(8)));
      await expect(send(small, 'file_two', 'xxx')).rejects.toMatchObject({ code: 'storage_full' });
      // Begun again, it takes the place of what was there of it.
      await small.take('file_one', stream('x'.repeat(9)));
    });
    expect(await small.usage()).toMatchObject({ usedBytes: 0 });
    await send(small, 'file_two', 'x'.repeat(10));
  });

  it('is known again after a start, and free again when a file is removed', async () => {
    await send(uploads, 'file_one', 'x'.repeat(6));
    const again = openUploads(10);
    expect(await again.usage()).toEqual({ usedBytes: 6, maxBytes: 10 });
    expect(await again.remove('file_one')).toMatchObject({ fileId: 'file_one', storedBytes: 6 });
    expect(await readdir(folder)).toEqual([]);
    expect(await world.store.files.get('file_one')).toBeUndefined();
    await expect(again.remove('file_one')).rejects.toMatchObject({ code: 'not_found' });
    expect(await again.usage()).toMatchObject({ usedBytes: 0 });
    await send(again, 'file_two', 'x'.repeat(10));
  });
});

describe('ciphertext', () => {
  it('that no file is known of is removed at the start, half ones too', async () => {
    await uploads.during(FILE, async () => {
      await uploads.take('file_one', stream('hello'));
      await uploads.commit('file_one', DESCRIPTION);
    });
    for (const name of ['file_two', 'file_one.part', 'file_three.part'])
      await writeFile(join(folder, name), 'x');
    await blobs.open(async (fileId) => (await world.store.files.get(fileId)) !== undefined);
    expect(await readdir(folder)).toEqual(['file_one']);
  });

  it('that does not fit on the disk is a clear error, and leaves room', async ({ skip }) => {
    const small = join(folder, 'small');
    await mkdir(small);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', small], { stdio: 'ignore' });
    } catch {
      skip('this user cannot mount a small disk');
    }
    try {
      const full = createBlobs(small);
      const large = stream(...Array.from({ length: 10 }, () => 'x'.repeat(65_536)));
      await expect(full.write('file_one', large, 1_000_000)).rejects.toMatchObject({
        code: 'state_damaged',
        message: expect.stringContaining('full'),
      });
      expect(await readdir(small)).toEqual([]);
      expect(await full.write('file_two', stream('fits'), 100)).toBe(4);
    } finally {
      execFileSync('umount', [small]);
    }
  });
});

describe('the account’s recipient', () => {
  it('is set once; another takes its place only where that one is named', async () => {
    const { files } = world.store;
    expect(await files.recipient()).toBeUndefined();
    const both = await Promise.all([
      files.setRecipient('age1a', undefined),
      files.setRecipient('age1b', undefined),
    ]);
    expect(both.filter(Boolean)).toHaveLength(1);
    const first = both[0] ? 'age1a' : 'age1b';
    expect(await files.recipient()).toBe(first);
    expect(await files.setRecipient('age1c', undefined)).toBe(false);
    expect(await files.setRecipient('age1c', 'age1z')).toBe(false);
    expect(await files.setRecipient('age1c', first)).toBe(true);
    expect(await files.recipient()).toBe('age1c');
  });
});
