import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KaiwuError } from '../core/errors.ts';
import type { SealedDescription } from '../core/file.ts';
import { decryptStream } from '../local/identity-age.ts';

/** A file on its way, to be decrypted and checked. */
export interface Incoming {
  /** Ciphertext. */
  source: AsyncIterable<Uint8Array>;
  identity: string;
  description: SealedDescription;
  /** Hears of bytes as they are written. */
  onBytes(bytes: number): void;
}

export interface Download extends Incoming {
  /** Absolute. */
  path: string;
  /** Take the place of what is there. */
  force: boolean;
}

/** Refuses a path that is taken, before anything is fetched. @throws conflict | invalid_input */
export async function requireFree(path: string, force: boolean): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (folder?.isDirectory() !== true) {
    throw new KaiwuError('invalid_input', `The folder ${dirname(path)} does not exist.`, {
      hint: 'Make it first, or name another one with --output.',
    });
  }
  const taken = await lstat(path).catch(() => undefined);
  if (taken === undefined || (force && taken.isFile())) return;
  throw exists(path);
}

/**
 * Decrypts into a file that appears whole or not at all.
 * @throws state_damaged (ciphertext cut, changed, or another file's) | conflict (something came to lie there meanwhile)
 */
export async function saveDecrypted(download: Download): Promise<void> {
  const { path, force } = download;
  const part = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID()}.part`);
  try {
    await writePart(part, download);
    if (force) await rename(part, path);
    else await putNew(part, path);
  } catch (error) {
    throw toSaveError(error, path);
  } finally {
    await rm(part, { force: true });
  }
}

/**
 * The plain bytes as they come. Each is authentic; that none is missing is known at the end.
 * @throws state_damaged
 */
export async function* openDecrypted({ source, identity, description, onBytes }: Incoming) {
  const { fileId, sizeBytes, sha256 } = description;
  const hash = createHash('sha256');
  let written = 0;
  for await (const chunk of await decrypted(source, identity, fileId)) {
    hash.update(chunk);
    yield chunk;
    written += chunk.byteLength;
    onBytes(written);
  }
  // Whole as a ciphertext, and yet not what was sent under this id.
  if (written !== sizeBytes || hash.digest('hex') !== sha256) throw damaged(fileId);
}

async function writePart(part: string, incoming: Incoming) {
  const handle = await open(part, 'wx', 0o600);
  try {
    for await (const chunk of openDecrypted(incoming)) await handle.write(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Errors of the ciphertext are told from those of the connection, which come from its source. */
async function decrypted(source: AsyncIterable<Uint8Array>, identity: string, fileId: string) {
  let broken: unknown;
  async function* told(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      broken = error;
      throw error;
    }
  }
  const reason = () => broken ?? damaged(fileId);
  async function* plain(): AsyncGenerator<Uint8Array> {
    try {
      yield* await decryptStream(told(), identity);
    } catch {
      throw reason();
    }
  }
  return plain();
}

/** Never in the place of something: a link is made only where nothing is. */
async function putNew(part: string, path: string): Promise<void> {
  try {
    await link(part, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(path);
    // Not every file system has such links.
    const place = await open(path, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
      throw cause.code === 'EEXIST' ? exists(path) : cause;
    });
    await place.close();
    await rename(part, path);
  }
}

function toSaveError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof KaiwuError || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new KaiwuError('state_damaged', `The disk is full; ${path} was not saved.`);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new KaiwuError('access_denied', `${path} cannot be written: ${code}.`);
  return error;
}

const exists = (path: string) =>
  new KaiwuError('conflict', `There is something at ${path} already; it was left as it is.`, {
    hint: 'Name another file with --output, or add --force to replace a file.',
  });

const damaged = (fileId: string) =>
  new KaiwuError(
    'state_damaged',
    `The stored content of ${fileId} is damaged or not whole; it was not saved.`,
    {
      hint: 'Try again. If it stays so, have the file sent once more.',
    },
  );
