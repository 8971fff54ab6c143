import { access, constants, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';

const REASONS = {
  not_absolute: 'is not an absolute path',
  missing: 'does not exist',
  not_a_directory: 'is not a directory',
  unreadable: 'cannot be read by the daemon',
} as const;

/** @throws session_directory_unavailable with `details.reason` */
export async function checkDirectory(directory: string): Promise<void> {
  const reason = await whyNot(directory);
  if (reason === undefined) return;
  throw new KaiwuError('session_directory_unavailable', `The directory ${directory} ${REASONS[reason]}.`, {
    hint: 'Name a directory on the machine that the session runs on.',
    details: { directory, reason },
  });
}

async function whyNot(directory: string): Promise<keyof typeof REASONS | undefined> {
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
