import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';

/** Ciphertext on this machine's disk, one file each. */
export interface Blobs {
  /** Makes the folder and removes what no file is known of. To be awaited before the first write. */
  open(isKnown: (fileId: string) => Promise<boolean>): Promise<void>;
  /**
   * Stores a stream, whole and on the disk, or not at all.
   * @returns bytes @throws file_too_large beyond `maxBytes` | state_damaged (full disk) | canceled
   */
  write(fileId: string, stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** Bytes. @throws not_found */
  size(fileId: string): Promise<number>;
  /** The stream fails where nothing is. */
  read(fileId: string): ReadStream;
  /** Idempotent. */
  remove(fileId: string): Promise<void>;
}

/** Behind the name of what is still being written. */
const PART = '.part';

export function createBlobs(folder: string): Blobs {
  const pathOf = (fileId: string) => join(folder, fileId);

  async function writeAll(path: string, stream: AsyncIterable<Uint8Array>, maxBytes: number) {
    const handle = await open(path, 'w', 0o600);
    try {
      let bytes = 0;
      for await (const chunk of stream) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        await handle.write(chunk);
      }
      await handle.sync();
      return bytes;
    } finally {
      await handle.close();
    }
  }

  return {
    async open(isKnown) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(folder)) {
        if (name.endsWith(PART) || !(await isKnown(name))) await rm(join(folder, name), { force: true });
      }
    },
    async write(fileId, stream, maxBytes) {
      const part = pathOf(fileId) + PART;
      try {
        const bytes = await writeAll(part, stream, maxBytes);
        await rename(part, pathOf(fileId));
        await syncFolder(folder);
        return bytes;
      } catch (error) {
        await rm(part, { force: true });
        throw toWriteError(error);
      }
    },
    async size(fileId) {
      const info = await stat(pathOf(fileId)).catch(() => undefined);
      if (info === undefined) {
        throw new KaiwuError('not_found', `The content of ${fileId} is missing at this backend.`, {
          hint: 'It was stored before: look into the backup of the folder `blobs`.',
        });
      }
      return info.size;
    },
    read: (fileId) => createReadStream(pathOf(fileId)),
    remove: (fileId) => rm(pathOf(fileId), { force: true }),
  };
}

/** A rename survives a power cut once the folder is written. Not every file system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function toWriteError(error: unknown): unknown {
  if (error instanceof KaiwuError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new KaiwuError('state_damaged', 'The disk of the backend is full; the file was not stored.', {
      hint: 'Free some space there and send it again.',
      cause: error,
    });
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR') {
    return new KaiwuError('canceled', 'The machine went away before the file was whole.');
  }
  return error;
}

const tooLarge = (maxBytes: number) =>
  new KaiwuError(
    'file_too_large',
    `The backend takes files whose ciphertext has ${maxBytes} bytes at most.`,
    {
      hint: 'KAIWU_FILE_MAX_BYTES, set for the backend and the daemon, changes that.',
      details: { maxBytes },
    },
  );
