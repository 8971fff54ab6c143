import { access, constants, mkdir, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';

const REASONS = {
  not_absolute: 'is not an absolute path',
  missing: 'does not exist',
  not_a_directory: 'is not a directory',
  unreadable: 'cannot be read by the daemon',
  not_creatable: 'cannot be made by the daemon',
} as const;

type Reason = keyof typeof REASONS;

/** @throws session_directory_unavailable with `details.reason` */
export async function checkDirectory(directory: string): Promise<void> {
  const reason = await whyNot(directory);
  if (reason !== undefined) throw unavailable(directory, reason);
}

/** Makes it, and what of its path is missing, for the daemon's user alone. @throws session_directory_unavailable */
export async function makeDirectory(directory: string): Promise<void> {
  if (!isAbsolute(directory)) throw unavailable(directory, 'not_absolute');
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw unavailable(
      directory,
      code === 'EEXIST' || code === 'ENOTDIR' ? 'not_a_directory' : 'not_creatable',
    );
  }
}

const unavailable = (directory: string, reason: Reason): KaiwuError =>
  new KaiwuError('session_directory_unavailable', `The directory ${directory} ${REASONS[reason]}.`, {
    hint:
      reason === 'missing'
        ? 'Name a directory on the machine that the session runs on, or ask for it to be made.'
        : 'Name a directory on the machine that the session runs on.',
    details: { directory, reason },
  });

async function whyNot(directory: string): Promise<Reason | undefined> {
  if (!isAbsolute(directory)) return 'not_absolute';
  try {
    if (!(await stat(directory)).isDirectory()) return 'not_a_directory';
    await access(directory, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'missing' : code === 'ENOTDIR' ? 'not_a_directory' : 'unreadable';
  }
}
