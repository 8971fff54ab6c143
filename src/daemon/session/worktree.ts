import { lstat, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import type { StoredWorktree } from '../journal/rows.ts';
import type { Git } from './git.ts';

/**
 * Worktrees stand beside their repository, in `<repository>.worktrees/<branch>`: where editors put them too, so people
 * find them. On the same file system, so that package caches can be linked; outside the repository's own tree, so that
 * its watchers, searches and builds do not see every file twice.
 */
const placeOf = (repository: string, branch: string): string => join(`${repository}.worktrees`, branch);

/**
 * Where a worktree of a directory's repository would be, if one can be made.
 * @throws session_directory_unavailable | invalid_input | conflict
 */
export async function planWorktree(
  git: Git,
  directory: string,
  { branch, base = 'HEAD' }: { branch: string; base?: string },
): Promise<StoredWorktree> {
  // Files that an agent may write can look like a bare repository, and its settings run programs. What has a `.git` is a person's.
  const top = await git(directory, '-c', 'safe.bareRepository=explicit', 'rev-parse', '--show-toplevel');
  if (top.code !== 0) {
    throw new KaiwuError(
      'session_directory_unavailable',
      `No worktree can be made of ${directory}: ${top.lastLine}.`,
      {
        hint: 'Name a directory inside a git repository, or start the session without a worktree.',
        details: { directory, reason: 'not_a_repository' },
      },
    );
  }
  await checkBranchName(git, directory, branch);
  const start = await git(directory, 'rev-parse', '--verify', '--end-of-options', `${base}^{commit}`);
  if (start.code !== 0) {
    throw toInvalid('worktree.base', base, `names no commit of this repository: ${start.lastLine}`);
  }
  const inside = await git(directory, 'rev-parse', '--show-prefix');
  const known = await git(directory, 'worktree', 'list', '--porcelain');
  const repository = await mainOf(git, known.stdout, top.stdout);
  const path = placeOf(repository, branch);
  const taken = await whyTaken(git, directory, branch, path, known.stdout);
  if (taken !== undefined) {
    throw new KaiwuError('conflict', `No worktree can be made for branch ${branch}: ${taken}.`, {
      hint: 'Name another branch, or start the session in the directory that has it.',
      details: { branch, path },
    });
  }
  return {
    path,
    branch,
    repository,
    base: start.stdout,
    directory: join(path, inside.stdout).replace(/\/$/, ''),
    state: 'planned',
  };
}

/** The repository itself, wherever in its worktrees the directory lies. */
async function mainOf(git: Git, list: string, top: string): Promise<string> {
  const first = list.split('\n')[0]?.replace(/^worktree /, '') || top;
  // Of a submodule, git lists the folder in which it keeps its own files.
  const { code, stdout } = await git(first, 'rev-parse', '--show-toplevel');
  return code === 0 ? stdout : first;
}

async function checkBranchName(git: Git, directory: string, branch: string): Promise<void> {
  const valid = await git(directory, 'check-ref-format', `refs/heads/${branch}`);
  // Names that git would take for an option or for a commit, and folders outside the place.
  const misleads = /^-|^HEAD$|^@/.test(branch) || branch.split('/').some((part) => part === '..');
  if (valid.code === 0 && !misleads) return;
  throw toInvalid('worktree.branch', branch, 'is not a name that a git branch can have');
}

async function whyTaken(git: Git, directory: string, branch: string, path: string, list: string) {
  const at = list
    .split('\n\n')
    .map((entry) => entry.split('\n'))
    .find((lines) => lines.includes(`branch refs/heads/${branch}`));
  if (at !== undefined) return `it is checked out at ${at[0]?.replace(/^worktree /, '')}`;
  const exists = await git(directory, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`);
  if (exists.code === 0) return 'the branch exists';
  const there = await lstat(path).catch(() => undefined);
  return there === undefined ? undefined : `there is already something at ${path}`;
}

/** Makes it as planned. @throws session_directory_unavailable with git's own last line */
export const makeWorktree = (git: Git, plan: StoredWorktree): Promise<void> =>
  addWorktree(git, plan, ['--no-track', '-b', plan.branch, '--', plan.path, plan.base]);

/** Makes one again that was removed, with its branch as it was or as it is now. @throws like `makeWorktree` */
export async function remakeWorktree(git: Git, removed: StoredWorktree): Promise<void> {
  const { repository, branch, path, base, tip = base } = removed;
  const isThere = await hasBranch(git, repository, branch);
  await addWorktree(
    git,
    removed,
    isThere ? ['--', path, branch] : ['--no-track', '-b', branch, '--', path, tip],
  );
}

async function addWorktree(git: Git, { repository, path }: StoredWorktree, how: string[]): Promise<void> {
  const added = await git(repository, 'worktree', 'add', ...how);
  if (added.code === 0) return;
  throw new KaiwuError(
    'session_directory_unavailable',
    `The worktree ${path} cannot be made: ${added.lastLine}.`,
    {
      hint: 'Mend what git says in the repository, or start the session without a worktree.',
      details: { directory: path, reason: 'worktree_failed' },
    },
  );
}

/** Takes back a worktree in which nobody has worked yet, however far its making got. */
export async function undoWorktree(git: Git, plan: StoredWorktree): Promise<void> {
  const { repository, branch, path, base } = plan;
  await git(repository, 'worktree', 'remove', '--force', '--force', path);
  await git(repository, 'worktree', 'prune');
  const tip = await git(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (tip.stdout === base) await git(repository, 'branch', '-D', '--', branch);
  await removeEmptyParents(path, `${repository}.worktrees`);
}

/** Removes a worktree in which nothing would be lost, or says what would. `tip`: the commit that its branch had. */
export async function archiveWorktree(
  git: Git,
  worktree: StoredWorktree,
): Promise<{ kept: string } | { tip?: string }> {
  const { repository, branch, path } = worktree;
  if ((await lstat(path).catch(() => undefined)) !== undefined) {
    const kept = await whyKept(git, worktree);
    if (kept !== undefined) return { kept };
    const removed = await git(repository, 'worktree', 'remove', path);
    if (removed.code !== 0) return { kept: `git keeps it: ${removed.lastLine}` };
  } else {
    await git(repository, 'worktree', 'prune');
  }
  const { code, stdout } = await git(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (!(await hasCommitsOfItsOwn(git, worktree))) await git(repository, 'branch', '-D', '--', branch);
  await removeEmptyParents(path, `${repository}.worktrees`);
  return code === 0 ? { tip: stdout } : {};
}

async function whyKept(git: Git, { branch, path }: StoredWorktree): Promise<string | undefined> {
  const status = await git(path, 'status', '--porcelain', '--untracked-files=normal');
  if (status.code !== 0) return `git cannot tell its state: ${status.lastLine}`;
  const files = status.stdout === '' ? 0 : status.stdout.split('\n').length;
  if (files > 0) return `${files} changed or new files in it are not committed`;
  const tips = ['HEAD', ...((await hasBranch(git, path, branch)) ? [`refs/heads/${branch}`] : [])];
  const others = ['--not', `--exclude=${branch}`, '--branches', '--remotes'];
  const lonely = await git(path, 'rev-list', '--count', ...tips, ...others);
  if (lonely.code !== 0) return `git cannot tell whose its commits are: ${lonely.lastLine}`;
  return lonely.stdout === '0' ? undefined : `${lonely.stdout} commits in it are on no other branch`;
}

/** A branch that was pushed is not lost with its worktree, yet somebody may still want it here. */
async function hasCommitsOfItsOwn(git: Git, { repository, branch }: StoredWorktree): Promise<boolean> {
  if (!(await hasBranch(git, repository, branch))) return true;
  const own = ['rev-list', '--count', `refs/heads/${branch}`, '--not', `--exclude=${branch}`, '--branches'];
  return (await git(repository, ...own)).stdout !== '0';
}

const hasBranch = async (git: Git, directory: string, branch: string): Promise<boolean> =>
  (await git(directory, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`)).code === 0;

/** Branches with slashes in their names stand in folders of their own. */
async function removeEmptyParents(path: string, upTo: string): Promise<void> {
  for (let at = dirname(path); at === upTo || at.startsWith(upTo + sep); at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

const toInvalid = (path: string, received: string, what: string): KaiwuError => {
  const message = `${path} ${JSON.stringify(received)} ${what}`;
  return new KaiwuError('invalid_input', message, { details: { issues: [{ path, message, received }] } });
};
