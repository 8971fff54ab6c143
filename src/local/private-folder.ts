import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KaiwuError } from '../core/errors.ts';

/** Our user id; undefined on systems that have none. */
export const ownUid = (): number | undefined => process.getuid?.();

/** Rights of anybody but the owner. */
const OTHERS = 0o077;

/** File by which a home of Kaiwu is known. */
const HOME_MARK = 'config.json';

/**
 * Makes a folder that only this user can open (0700), with its parents, and checks that it is this user's. One that others
 * may open too is closed to them if it is empty or part of a home of Kaiwu.
 * @throws state_damaged when it belongs to somebody else, is used by others, or cannot be made
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  const existing = await statOf(path);
  if (existing !== undefined) {
    if (!existing.isDirectory()) {
      throw new KaiwuError('state_damaged', `${path} is not a folder, but Kaiwu keeps its state there.`, {
        hint: 'Move the file away, or set KAIWU_HOME to another folder.',
      });
    }
    assertOwner(path, existing.uid);
    if ((existing.mode & OTHERS) === 0) return;
    assertNotShared(path);
    await chmod(path, 0o700);
    return;
  }
  await assertMayCreate(path);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new KaiwuError('state_damaged', `The folder ${path} cannot be made: ${code}.`, {
      hint: 'Make it writable for this user, or set KAIWU_HOME to another folder.',
      cause,
    });
  }
}

/**
 * Refuses a folder that others may open, that holds something and that is no home of Kaiwu, nor inside of one: closing it
 * (`/tmp`, somebody's home) would break what it is for. Absent and private folders are fine.
 * @throws state_damaged naming the folder and the way out
 */
export function assertNotShared(path: string): void {
  const mode = modeOf(path);
  if (mode === undefined || (mode & OTHERS) === 0 || isHomeOrInside(path) || isEmpty(path)) return;
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  throw new KaiwuError(
    'state_damaged',
    `${path} is open to others (mode ${octal}) and holds files that are not Kaiwu's, so no state is kept there.`,
    {
      hint: `Set KAIWU_HOME to a folder of its own, such as ${join(path, 'kaiwu')}. If nobody else uses this one, make it private first (mode 0700).`,
      details: { path, mode: octal },
    },
  );
}

/** Undefined for what is absent, no folder, or cannot be looked at: whoever uses it says so. */
function modeOf(path: string): number | undefined {
  try {
    const info = statSync(path);
    return info.isDirectory() ? info.mode : undefined;
  } catch {
    return undefined;
  }
}

/** State lies at most two folders deep: `profiles/NAME`. */
function isHomeOrInside(path: string): boolean {
  const above = [path, dirname(path), dirname(dirname(path))];
  return above.some((folder) => existsSync(join(folder, HOME_MARK)));
}

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/**
 * A root process whose HOME is another user's would leave files there that the user can never change again
 * (`sudo` keeps HOME on many systems).
 */
async function assertMayCreate(path: string): Promise<void> {
  if (ownUid() !== 0) return;
  let parent = dirname(path);
  for (;;) {
    const found = await statOf(parent);
    if (found !== undefined) return assertOwner(parent, found.uid);
    parent = dirname(parent);
  }
}

/** @throws state_damaged naming the path, its owner, our uid and the way out */
export function assertOwner(path: string, owner: number): void {
  const uid = ownUid();
  if (uid === undefined || uid === owner) return;
  const hint =
    uid === 0
      ? `Run this as the user with uid ${owner} (without sudo), or set KAIWU_HOME to a folder of root.`
      : `Give it back with: sudo chown -R ${uid} ${JSON.stringify(path)}`;
  throw new KaiwuError(
    'state_damaged',
    `${path} belongs to uid ${owner}, but this process runs as uid ${uid}.`,
    {
      hint,
      details: { path, owner, uid },
    },
  );
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new KaiwuError(
      'state_damaged',
      `The folder ${path} cannot be looked at: ${code ?? 'unknown error'}.`,
      {
        hint: 'Check its owner and the rights of the folders above it.',
        cause: error,
      },
    );
  }
}
