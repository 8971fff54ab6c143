import { type FilesUsage, type SealedFile, type StoredFile, toStoredLimit } from '../../core/file.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { FileStore } from '../store/files.ts';
import type { Blobs } from './blobs.ts';
import type { Quota } from './quota.ts';

/** Files that a machine was asked for and that are on their way. */
export interface Uploads {
  /**
   * Runs `work`, during which the machine may upload the file and then say what it is. What was not said stays nowhere.
   * @throws storage_full; what the work throws; conflict naming the file, if it is there all the same
   */
  during<T>(
    file: { fileId: string; sessionId: string; machineId: string },
    work: () => Promise<T>,
  ): Promise<T>;
  /** Takes the ciphertext. A later one takes the place of an earlier one. @throws not_found for one that nobody waits for | storage_full */
  take(fileId: string, stream: AsyncIterable<Uint8Array>): Promise<{ storedBytes: number }>;
  /** The ciphertext is whole: from now on the file is there. Idempotent. @throws not_found | conflict (no ciphertext yet) */
  commit(fileId: string, description: SealedFile): Promise<void>;
  /** Removes a file for good, its record first. @throws not_found */
  remove(fileId: string): Promise<StoredFile>;
  usage(): Promise<FilesUsage>;
}

interface Upload {
  sessionId: string;
  machineId: string;
  storedBytes?: number;
  /** Taken of the quota. */
  heldBytes: number;
  committed: boolean;
  /** One write of a file at a time. */
  writing: Promise<unknown>;
}

export function createUploads(options: {
  blobs: Blobs;
  files: FileStore;
  /** Of one file. */
  maxBytes: number;
  quota: Quota;
}): Uploads {
  const { blobs, files, quota } = options;
  const limit = toStoredLimit(options.maxBytes);
  const open = new Map<string, Upload>();

  function find(fileId: string): Upload {
    const upload = open.get(fileId);
    if (upload !== undefined) return upload;
    throw new KaiwuError('not_found', 'Nobody waits for this file any more.', {
      hint: 'It has to be asked for again.',
    });
  }

  function letGo(upload: Upload): void {
    quota.give(upload.heldBytes);
    upload.heldBytes = 0;
  }

  return {
    async during({ fileId, sessionId, machineId }, work) {
      await quota.requireRoom();
      const upload: Upload = {
        sessionId,
        machineId,
        committed: false,
        heldBytes: 0,
        writing: Promise.resolve(),
      };
      open.set(fileId, upload);
      try {
        return await work();
      } catch (error) {
        throw upload.committed ? storedButUnanswered(fileId, error) : error;
      } finally {
        open.delete(fileId);
        await upload.writing.catch(() => undefined);
        if (!upload.committed) {
          await blobs.remove(fileId);
          letGo(upload);
        }
      }
    },
    take(fileId, stream) {
      const upload = find(fileId);
      const written = upload.writing
        .catch(() => undefined)
        .then(async () => {
          const stillAsked = find(fileId);
          stillAsked.storedBytes = undefined;
          letGo(stillAsked);
          const hold = (bytes: number) => {
            if (!open.has(fileId)) throw new KaiwuError('canceled', 'Nobody waits for this file any more.');
            quota.take(bytes);
            stillAsked.heldBytes += bytes;
          };
          stillAsked.storedBytes = await blobs.write(fileId, held(stream, hold), limit);
          return { storedBytes: stillAsked.storedBytes };
        });
      upload.writing = written;
      return written;
    },
    async commit(fileId, { sizeBytes, sealed }) {
      const upload = find(fileId);
      if (upload.committed) return;
      const { sessionId, machineId, storedBytes } = upload;
      if (storedBytes === undefined)
        throw new KaiwuError('conflict', `The content of ${fileId} has not been uploaded yet.`);
      upload.committed = true;
      try {
        await files.insert({ fileId, sessionId, machineId, sizeBytes, storedBytes, sealed });
      } catch (error) {
        upload.committed = false;
        throw error;
      }
    },
    async remove(fileId) {
      const file = await files.get(fileId);
      if (file === undefined || !(await files.remove(fileId))) throw noSuchFile(fileId);
      quota.give(file.storedBytes);
      // What a crash leaves here is removed at the next start: no file is known of it any more.
      await blobs.remove(fileId);
      return file;
    },
    usage: quota.usage,
  };
}

export const noSuchFile = (fileId: string) =>
  new KaiwuError('not_found', `There is no file ${fileId}.`, {
    hint: '`kaiwu file list` names those that were sent; it may have been removed.',
  });

/** To send it again would be to send it twice. */
const storedButUnanswered = (fileId: string, cause: unknown) =>
  new KaiwuError('conflict', `The file was stored as ${fileId}, but its machine did not say so to the end.`, {
    hint: 'It is among the files that were sent; do not send it again.',
    details: { fileId },
    cause,
  });

/** A stream each part of which has to be let through. */
async function* held(
  stream: AsyncIterable<Uint8Array>,
  hold: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hold(chunk.byteLength);
    yield chunk;
  }
}
