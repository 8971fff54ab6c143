import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import { findJsonFault } from '../core/json-position.ts';
import { assertOwner, ensurePrivateFolder, ownUid } from './private-folder.ts';

/** Larger is not a state file of ours, bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** O_NONBLOCK: opening a FIFO without it waits for a writer for ever. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a JSON file of this user. Absent is undefined; whatever else is wrong is an error that names the file,
 * never a default: a default that gets saved destroys what was there.
 * @throws state_damaged
 */
export async function readStateFile<S extends z.ZodType>(
  path: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  return parseState(path, await readTextFile(path, { own: true }), schema);
}

/** The same at once, for a small file that is asked for where nothing can wait. @throws state_damaged */
export function readStateFileNow<S extends z.ZodType>(path: string, schema: S): z.output<S> | undefined {
  return parseState(path, readTextNow(path), schema);
}

function parseState<S extends z.ZodType>(
  path: string,
  text: string | undefined,
  schema: S,
): z.output<S> | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === '') throw damaged(path, 'it is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The parser's own message may quote a secret of the file.
    const { line, column } = findJsonFault(text);
    const where = `from line ${line}, column ${column} on`;
    throw damaged(path, `it is not whole JSON ${where} (${Buffer.byteLength(text)} bytes)`, cause);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damaged(
    path,
    `${issue?.path.map(String).join('.') || 'the root'}: ${issue?.message ?? 'not as expected'}`,
  );
}

function readTextNow(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw damaged(path, `it cannot be read (${code ?? 'unknown error'})`, error);
  }
  try {
    assertUsable(path, fstatSync(fd), true);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function assertUsable(path: string, info: Stats, own: boolean): void {
  if (!info.isFile()) throw damaged(path, 'it is not a regular file');
  if (own) assertOwner(path, info.uid);
  if (info.size > MAX_BYTES) throw damaged(path, `it is ${info.size} bytes long`);
}

/**
 * Text of a regular file; undefined when there is none. Never blocks on a pipe or a device.
 * @param options.own refuse the file of another user
 * @throws state_damaged
 */
export async function readTextFile(path: string, options: { own: boolean }): Promise<string | undefined> {
  const handle = await open(path, READ).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw await unreadable(path, error);
  });
  if (handle === undefined) return undefined;
  try {
    assertUsable(path, await handle.stat(), options.own);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/**
 * Writes a JSON file whole or not at all: a reader, a crash or a full disk sees the old content or the new one.
 * A symbolic link stays a link.
 * @throws state_damaged when it cannot be written; what was there is unchanged then
 */
export async function writeStateFile(path: string, value: unknown): Promise<void> {
  await ensurePrivateFolder(dirname(path));
  const target = await realpath(path).catch(() => path);
  const temporary = join(dirname(target), `.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(value, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
    await syncFolder(dirname(target));
  } catch (cause) {
    await unlink(temporary).catch(() => undefined);
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const why = code === 'ENOSPC' ? 'the disk is full' : code;
    throw new KaiwuError('state_damaged', `${path} cannot be saved: ${why}. What was there is unchanged.`, {
      hint:
        code === 'ENOSPC'
          ? 'Free some space and try again.'
          : 'Check the rights of its folder and try again.',
      cause,
    });
  }
}

/** Removes a file; fine when there is none. */
export async function removeStateFile(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Makes a rename survive a power cut. Not every file system can; then the rename stands as it is. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

const damaged = (path: string, why: string, cause?: unknown): KaiwuError =>
  new KaiwuError('state_damaged', `${path} cannot be used: ${why}. Kaiwu has left it as it is.`, {
    hint: `Repair it, or move it away to start anew: mv ${JSON.stringify(path)} ${JSON.stringify(`${path}.damaged`)}`,
    details: { path },
    cause,
  });

/** Names what stands in the way: the file, or the nearest folder above it that can be looked at. */
async function unreadable(path: string, error: NodeJS.ErrnoException): Promise<KaiwuError> {
  let blocked = path;
  let owner = await ownerOf(blocked);
  while (owner === undefined && dirname(blocked) !== blocked) {
    blocked = dirname(blocked);
    owner = await ownerOf(blocked);
  }
  const uid = ownUid();
  const who = `${blocked} belongs to uid ${owner}; this process runs as uid ${uid}.`;
  const fix = owner === uid ? 'chmod u+rwX' : `sudo chown -R ${uid}`;
  return new KaiwuError('state_damaged', `${path} cannot be read: ${error.code ?? 'unknown error'}. ${who}`, {
    hint: `Make it readable for this user: ${fix} ${JSON.stringify(blocked)}`,
    details: {
      path: blocked,
      ...(owner === undefined ? {} : { owner }),
      ...(uid === undefined ? {} : { uid }),
    },
    cause: error,
  });
}

const ownerOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (info) => info.uid,
    () => undefined,
  );
