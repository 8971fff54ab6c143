import { access, constants, lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import { isReserved, sameName } from './names.ts';

/** Where a path leads inside a workspace. */
export interface Found {
  /** Real root of the workspace. */
  root: string;
  /** Without links. */
  path: string;
}

/** Links on the way of one path, at most; what has more goes round. */
const MAX_LINKS = 40;
/** Names that are told where several fit. */
const MAX_CANDIDATES = 10;

/**
 * Follows a path step by step and never looks at anything outside of the workspace.
 * @throws session_directory_unavailable | access_denied | file_not_found | file_read_error
 */
export async function findInWorkspace(directory: string, given: string): Promise<Found> {
  const root = await realpath(directory).catch(() => {
    throw new KaiwuError('session_directory_unavailable', `The directory ${directory} is not there.`, {
      hint: 'It was moved or removed; start a session in a directory that exists.',
      details: { directory },
    });
  });
  if (given.includes('\0')) throw denied(given, 'it holds a NUL character');
  let at = root;
  let left = partsOf(isAbsolute(given) ? await fromRoot(root, directory, given, given) : given);
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '..') {
      at = dirname(at);
      if (!isInside(root, at)) throw denied(given, 'it leads out of the workspace');
      continue;
    }
    const next = join(at, await nameIn(at, name, given));
    const info = await lstat(next).catch((error: NodeJS.ErrnoException) => {
      throw toPathError(error, given);
    });
    if (!info.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw unreadable(given, 'its links go round');
    const target = await readlink(next).catch((error: NodeJS.ErrnoException) => {
      throw toPathError(error, given);
    });
    if (isAbsolute(target)) {
      left = [...partsOf(await fromRoot(root, directory, target, given)), ...left];
      at = root;
    } else left = [...partsOf(target), ...left];
  }
  await access(at, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    throw toPathError(error, given);
  });
  return { root, path: at };
}

/** Whether a path without links is the workspace or lies in it. */
export const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

const partsOf = (path: string): string[] =>
  path.split(sep === '\\' ? /[\\/]/ : '/').filter((part) => part !== '' && part !== '.');

/** The rest of an absolute path that lies in the workspace, under the name that the session knows it by or the real one. */
async function fromRoot(root: string, directory: string, target: string, given: string): Promise<string> {
  for (const base of [directory, root]) {
    const rest = relative(base, target);
    // What goes up first is judged step by step like any other path, but from a place that is inside.
    if (!isAbsolute(rest) && rest !== '..' && !rest.startsWith(`..${sep}`) && !target.includes(`${sep}..`))
      return rest;
  }
  const real = await realpath(target).catch(() => undefined);
  if (real !== undefined && isInside(root, real)) return relative(root, real);
  throw denied(given, 'it leads out of the workspace');
}

/** The name itself, or the one that differs from it in kinds of spaces alone. @throws file_not_found, with candidates */
async function nameIn(folder: string, name: string, given: string): Promise<string> {
  const exists = await lstat(join(folder, name)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw toPathError(error, given);
    },
  );
  if (exists) {
    // Windows opens a device by such a name in any folder.
    if (sep === '\\' && isReserved(name)) throw reserved(given);
    return name;
  }
  const alike = (await readdir(folder).catch(() => [])).filter((other) => sameName(other, name));
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only;
  if (isReserved(name)) throw reserved(given);
  throw notFound(given, alike.slice(0, MAX_CANDIDATES));
}

function toPathError(error: NodeJS.ErrnoException, given: string): KaiwuError {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return notFound(given, []);
  // It was a link a moment ago.
  if (error.code === 'EINVAL') return replaced(given);
  return unreadable(given, error.code ?? 'unknown error');
}

const shown = (path: string): string =>
  JSON.stringify(toVisibleText(path, { singleLine: true }).slice(0, 300));

/** Spaces that look like plain ones are told apart. */
const shownSpaces = (name: string): string =>
  shown(name).replaceAll(
    /(?! )\p{Zs}/gu,
    (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const denied = (path: string, why: string) =>
  new KaiwuError('access_denied', `${shown(path)} cannot be sent: ${why}.`, {
    hint: "Name a file inside the session's directory, relative to it; copy it there first if it lies elsewhere.",
  });

export const replaced = (path: string) => denied(path, 'it was replaced while it was looked at');

const reserved = (path: string) => denied(path, 'its name stands for a device');

const notFound = (path: string, candidates: string[]) =>
  new KaiwuError('file_not_found', `There is no file ${shown(path)} in the session's directory.`, {
    hint:
      candidates.length > 0
        ? `Several names differ from it in spaces alone: ${candidates.map(shownSpaces).join(', ')}.`
        : "The path is relative to the session's directory.",
    ...(candidates.length > 0
      ? { details: { candidates: candidates.map((name) => toVisibleText(name, { singleLine: true })) } }
      : {}),
  });

export const unreadable = (path: string, why: string) =>
  new KaiwuError('file_read_error', `${shown(path)} cannot be read: ${why}.`, {
    hint: 'Check that the file is readable for the user of the daemon.',
  });

export const isDirectory = (path: string) =>
  new KaiwuError('is_directory', `${shown(path)} is a directory.`, {
    hint: 'Send one file: pack the directory first.',
  });

export const notAFile = (path: string, what: string) =>
  new KaiwuError('not_a_file', `${shown(path)} is ${what}, not a regular file.`, {
    hint: 'Only regular files can be sent.',
  });

export const tooLarge = (path: string, maxBytes: number, bytes?: number) =>
  new KaiwuError(
    'file_too_large',
    `${shown(path)} has ${bytes === undefined ? 'more' : `${bytes} bytes, more`} than the limit of ${maxBytes} bytes.`,
    {
      hint: 'Send a smaller file, or raise KAIWU_FILE_MAX_BYTES for the backend and the daemon.',
      details: { maxBytes, ...(bytes === undefined ? {} : { sizeBytes: bytes }) },
    },
  );
