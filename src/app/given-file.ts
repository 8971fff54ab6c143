import { randomUUID } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { type ErrorCode, KaiwuError } from '../core/errors.ts';
import type { CliIo } from '../surfaces/cli/io.ts';

const MAX_BYTES = 4 * 1024 * 1024;
/** Longest silence of a pipe that somebody named, milliseconds. */
const PIPE_SILENCE_MS = 30_000;

export interface GivenFile {
  /** As the person calls it. */
  name: string;
  text: string;
}

/**
 * Text of a file that a person named, from where they stand; `-` is stdin. Pipes are read as well (`<(git show ...)`).
 * @throws file_not_found | is_directory | access_denied | file_too_large | invalid_input (not UTF-8)
 */
export async function readGivenFile(
  path: string,
  { stdin, cwd }: Pick<CliIo, 'stdin' | 'cwd'>,
  silenceMs = PIPE_SILENCE_MS,
): Promise<GivenFile> {
  const name = path === '-' ? 'stdin' : path;
  const bytes = await read(path === '-' ? stdin : resolve(cwd, path), name, silenceMs).catch(
    (error: unknown) => {
      throw error instanceof KaiwuError ? error : toFileError(error, name);
    },
  );
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw new KaiwuError('invalid_input', `${name} is not UTF-8 text.`);
  }
}

const read = async (from: Readable | string, name: string, silenceMs: number): Promise<Buffer> =>
  readAll(typeof from === 'string' ? openToRead(from, name, silenceMs) : from, name);

/** Opens without waiting: a pipe that nobody writes to would hold the whole program, and no signal could end it. */
function openToRead(path: string, name: string, silenceMs: number): Readable {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (!fstatSync(fd).isFIFO()) {
    closeSync(fd);
    return createReadStream(path);
  }
  const pipe = new Socket({ fd, readable: true, writable: false });
  return pipe.setTimeout(silenceMs, () =>
    pipe.destroy(
      new KaiwuError('timeout', `${name} is a pipe, and nothing came through it for ${silenceMs / 1000} s.`),
    ),
  );
}

async function readAll(stream: Readable, name: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size > MAX_BYTES) throw new KaiwuError('file_too_large', `${name} is over ${MAX_BYTES} bytes long.`);
  }
  return Buffer.concat(parts);
}

/**
 * Writes a file that a person named, readable by them alone. It is there when all of it is; what was there before stays until
 * then.
 * @param fill writes it, a piece after the other
 * @throws file_not_found (its folder) | is_directory | access_denied | invalid_input | state_damaged (the disk is full)
 */
export async function writeGivenFile<T>(
  path: string,
  fill: (put: (text: string) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const known = await stat(path).catch(() => undefined);
  if (known !== undefined && !known.isFile() && !known.isDirectory()) {
    throw new KaiwuError('invalid_input', `${path} is no regular file.`, {
      hint: 'Redirect the output to it instead.',
    });
  }
  const target = await realpath(path).catch(() => path);
  const temporary = join(dirname(target), `.${randomUUID()}.tmp`);
  const named = (error: unknown) => toFileError(error, path);
  if (known?.isDirectory()) throw named({ code: 'EISDIR' });
  const handle = await open(temporary, 'wx', 0o600).catch((error: unknown) => {
    throw named(error);
  });
  try {
    const result = await fill((text) =>
      handle.writeFile(text).catch((error: unknown) => {
        throw named(error);
      }),
    );
    await handle.sync();
    await handle.close();
    await rename(temporary, target);
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error instanceof KaiwuError || !isSystemError(error) ? error : named(error);
  }
}

const isSystemError = (error: unknown): boolean =>
  typeof (error as { syscall?: unknown }).syscall === 'string';

const CODES: Record<string, [ErrorCode, string]> = {
  ENOENT: ['file_not_found', 'does not exist'],
  ENOTDIR: ['file_not_found', 'does not exist'],
  EISDIR: ['is_directory', 'is a folder'],
  EACCES: ['access_denied', 'may not be touched by this user'],
  EPERM: ['access_denied', 'may not be touched by this user'],
  EROFS: ['access_denied', 'is on a file system that cannot be written'],
  ENOSPC: ['state_damaged', 'cannot be saved: the disk is full'],
};

/** What went wrong with a file that a person named. */
function toFileError(error: unknown, name: string): KaiwuError {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  const [kind, what] = CODES[code] ?? ['state_damaged', `cannot be used: ${code}`];
  return new KaiwuError(kind, `${name} ${what}.`, { cause: error });
}
