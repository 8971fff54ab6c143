import { type SealedFile, toStoredLimit } from '../../core/file.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { FileStore } from '../store/files.ts';
import type { Blobs } from './blobs.ts';

/** Files that a machine was asked for and that are on their way. */
export interface Uploads {
  /**
   * Runs `work`, during which the machine may upload the file and then say what it is. What was not said stays nowhere.
   * @throws what the work throws; conflict naming the file, if it is there all the same
   */
  during<T>(
    file: { fileId: string; sessionId: string; machineId: string },
    work: () => Promise<T>,
  ): Promise<T>;
  /** Takes the ciphertext. A later one takes the place of an earlier one. @throws not_found for one that nobody waits for */
  take(fileId: string, stream: AsyncIterable<Uint8Array>): Promise<{ storedBytes: number }>;
  /** The ciphertext is whole: from now on the file is there. Idempotent. @throws not_found | conflict (no ciphertext yet) */
  commit(fileId: string, description: SealedFile): Promise<void>;
}

interface Upload {
  sessionId: string;
  machineId: string;
  storedBytes?: number;
  committed: boolean;
  /** One write of a file at a time. */
  writing: Promise<unknown>;
}

export function createUploads(options: { blobs: Blobs; files: FileStore; maxBytes: number }): Uploads {
  const { blobs, files } = options;
  const limit = toStoredLimit(options.maxBytes);
  const open = new Map<string, Upload>();

  function find(fileId: string): Upload {
    const upload = open.get(fileId);
    if (upload !== undefined) return upload;
    throw new KaiwuError('not_found', 'Nobody waits for this file any more.', {
      hint: 'It has to be asked for again.',
    });
  }

  return {
    async during({ fileId, sessionId, machineId }, work) {
      const upload: Upload = { sessionId, machineId, committed: false, writing: Promise.resolve() };
      open.set(fileId, upload);
      try {
        return await work();
      } catch (error) {
        throw upload.committed ? storedButUnanswered(fileId, error) : error;
      } finally {
        open.delete(fileId);
        await upload.writing.catch(() => undefined);
        if (!upload.committed) await blobs.remove(fileId);
      }
    },
    take(fileId, stream) {
      const upload = find(fileId);
      const written = upload.writing
        .catch(() => undefined)
        .then(async () => {
          const stillAsked = find(fileId);
          stillAsked.storedBytes = undefined;
          stillAsked.storedBytes = await blobs.write(
            fileId,
            whileAsked(stream, () => open.has(fileId)),
            limit,
          );
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
  };
}

/** To send it again would be to send it twice. */
const storedButUnanswered = (fileId: string, cause: unknown) =>
  new KaiwuError('conflict', `The file was stored as ${fileId}, but its machine did not say so to the end.`, {
    hint: 'It is among the files that were sent; do not send it again.',
    details: { fileId },
    cause,
  });

/** A stream that ends with an error once nobody waits for it. */
async function* whileAsked(
  stream: AsyncIterable<Uint8Array>,
  isAsked: () => boolean,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    if (!isAsked()) throw new KaiwuError('canceled', 'Nobody waits for this file any more.');
    yield chunk;
  }
}
