import { KaiwuError } from '../core/errors.ts';

/** SQLite's primary result codes that a person can do something about. */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** What a person is told of an error of SQLite; anything else stays as it is, a broken constraint too. */
export function toKaiwuError(error: unknown, path: string): unknown {
  const errcode = (error as { errcode?: unknown }).errcode;
  if (typeof errcode !== 'number') return error;
  const unwritable = (what: string, hint: string) =>
    new KaiwuError('internal', `${path} could not be written: ${what}. Nothing of this change was kept.`, {
      hint,
      cause: error,
    });
  switch (errcode & 0xff) {
    case BUSY:
      return new KaiwuError('conflict', `${path} is in use by another process.`, {
        hint: 'Stop the other process, or try again when it has finished.',
        cause: error,
      });
    case READONLY:
      return unwritable('it is read-only', 'Make the file and its folder writable for this user.');
    case IOERR:
      return unwritable('the disk reported an I/O error', 'Check the disk, then try again.');
    case FULL:
      return unwritable('the disk is full', 'Free some space, then try again.');
    case CANTOPEN:
      return cannotOpen(path, error);
    case CORRUPT:
    case NOTADB:
      return damaged(path, (error as Error).message, error);
    default:
      return error;
  }
}

export const damaged = (path: string, what: string, cause?: unknown) =>
  new KaiwuError('state_damaged', `${path} is not a sound SQLite database: ${what}. It was left as it is.`, {
    hint: 'Put a backup of the file in its place, or move it (and its -wal file) away to start with an empty one.',
    details: { path },
    cause,
  });

export const cannotOpen = (path: string, cause: unknown) =>
  new KaiwuError('state_damaged', `${path} cannot be opened: ${(cause as Error).message}.`, {
    hint: 'Check the owner and the rights of the file and of the folders above it.',
    details: { path },
    cause,
  });
