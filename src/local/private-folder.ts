import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KaiwuError } from '../core/errors.ts';

/** Our user id; undefined on systems that have none. */
export const ownUid = (): number | undefined => process.getuid?.();

/**
 * Makes a folder that only this user can open (0700), with its parents, and checks that it is this user's.
 * @throws state_damaged when it belongs to somebody else or cannot be made
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
    if ((existing.mode & 0o077) !== 0) await chmod(path, 0o700);
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
