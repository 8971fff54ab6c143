import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import {
  findInWorkspace,
  isDirectory,
  isInside,
  notAFile,
  replaced,
  tooLarge,
  unreadable,
} from './workspace-path.ts';

/** A regular file of a workspace, held by one descriptor: what is checked is what is read. */
export interface OpenFile {
  /** Where it lies, without links. */
  path: string;
  root: string;
  sizeBytes: number;
  /** From its start to its end, as it is then. @throws file_too_large | file_read_error */
  read(): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** Neither waits for the other end of a pipe, nor follows a link that came in between. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens a file for sending. Nothing but a regular file is opened, let alone read.
 * @throws as `findInWorkspace`, then is_directory | not_a_file | file_too_large
 */
export async function openInWorkspace(directory: string, given: string, maxBytes: number): Promise<OpenFile> {
  const { root, path } = await findInWorkspace(directory, given);
  // A device may do something when it is merely opened.
  requireRegular(await lstat(path).catch((error) => fail(error, given)), given);
  const handle = await open(path, FLAGS).catch((error) => fail(error, given));
  try {
    const info = await handle.stat();
    requireRegular(info, given);
    await requireInside(handle, info, { root, path, given });
    if (info.size > maxBytes) throw tooLarge(given, maxBytes, info.size);
    return {
      path,
      root,
      sizeBytes: info.size,
      read: () => readAll(handle, given, maxBytes),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function requireRegular(info: Stats, given: string): void {
  if (info.isFile()) return;
  if (info.isDirectory()) throw isDirectory(given);
  if (info.isSymbolicLink()) throw replaced(given);
  throw notAFile(
    given,
    info.isFIFO() ? 'a pipe' : info.isSocket() ? 'a socket' : info.isBlockDevice() ? 'a disk' : 'a device',
  );
}

/** A folder on the way may have been replaced by a link since: the descriptor itself says what was opened. */
async function requireInside(
  handle: FileHandle,
  info: Stats,
  { root, path, given }: { root: string; path: string; given: string },
): Promise<void> {
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (opened !== undefined) {
    if (isInside(root, opened)) return;
    throw replaced(given);
  }
  // Without such a file system the path is followed once more, and has to end at what was opened.
  const real = await realpath(path).catch(() => undefined);
  const now = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real !== undefined && isInside(root, real) && now?.dev === info.dev && now.ino === info.ino) return;
  throw replaced(given);
}

/** A file that grows is read to where it ends when its end is reached; one that shrinks would arrive torn. */
async function* readAll(handle: FileHandle, given: string, maxBytes: number): AsyncGenerator<Buffer> {
  const { size } = await handle.stat();
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await handle
      .read(chunk, 0, CHUNK_BYTES, position)
      .catch((error: NodeJS.ErrnoException) => {
        throw unreadable(given, error.code ?? 'unknown error');
      });
    if (bytesRead === 0) {
      if (position < size) throw unreadable(given, 'it became shorter while it was read');
      return;
    }
    position += bytesRead;
    if (position > maxBytes) throw tooLarge(given, maxBytes);
    yield chunk.subarray(0, bytesRead);
  }
}

function fail(error: NodeJS.ErrnoException, given: string): never {
  if (error.code === 'ELOOP' || error.code === 'ENOENT') throw replaced(given);
  if (error.code === 'ENXIO') throw notAFile(given, 'a socket or a device');
  throw unreadable(given, error.code ?? 'unknown error');
}
