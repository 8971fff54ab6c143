import { lstat } from 'node:fs/promises';
import type { Worktree } from '../../core/session.ts';
import type { StoredSession, StoredWorktree } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';
import { checkDirectory, makeDirectory } from './directory.ts';
import { createGit } from './git.ts';
import { archiveWorktree, makeWorktree, planWorktree, remakeWorktree, undoWorktree } from './worktree.ts';

/** Where an agent works. */
export interface Workspace {
  directory: string;
  worktree?: Worktree;
}

/** A start is told of within its limit, and the agent needs a part of that. */
const gitOf = ({ env, limits }: SessionContext) => createGit(env, limits.startMs / 2);

/** Makes what a session's first start asks for and checks that it is all there. @throws session_directory_unavailable | invalid_input | conflict */
export async function prepareWorkspace(context: SessionContext, session: StoredSession): Promise<Workspace> {
  const isFirst = session.acpSessionId === undefined;
  if (isFirst && session.createDirectory) await makeDirectory(session.directory);
  const { worktree: earlier } = session;
  const isThere = earlier?.state === 'made' || (earlier === undefined && !isFirst);
  const worktree = isThere
    ? earlier
    : await context.inTurn(() => {
        return isFirst || earlier === undefined
          ? addWorktree(context, session)
          : bringBack(context, session.sessionId, earlier);
      });
  const directory = worktree?.directory ?? session.directory;
  await checkDirectory(directory);
  for (const additional of session.additionalDirectories) await checkDirectory(additional);
  if (worktree === undefined) return { directory };
  const { path, branch, repository } = worktree;
  return { directory, worktree: { path, branch, repository } };
}

async function addWorktree(context: SessionContext, session: StoredSession) {
  const { sessionId, directory, worktree: earlier, worktreeRequest } = session;
  if (worktreeRequest === undefined) return undefined;
  const git = gitOf(context);
  if (earlier?.state === 'planned') await undoWorktree(git, earlier);
  await checkDirectory(directory);
  const plan = await planWorktree(git, directory, worktreeRequest);
  context.journal.setWorktree(sessionId, plan);
  await makeWorktree(git, plan);
  const made = { ...plan, state: 'made' as const };
  context.journal.setWorktree(sessionId, made);
  return made;
}

/** Makes a worktree again that went with the archiving of its session. What stands in its place by now is used as it is. */
async function bringBack(
  context: SessionContext,
  sessionId: string,
  worktree: StoredWorktree,
): Promise<StoredWorktree> {
  const git = gitOf(context);
  const note = (state: StoredWorktree['state']): StoredWorktree => {
    const noted = { ...worktree, state };
    context.journal.setWorktree(sessionId, noted);
    return noted;
  };
  if (worktree.state === 'planned') await undoWorktree(git, worktree);
  else if ((await lstat(worktree.path).catch(() => undefined)) !== undefined) return worktree;
  await checkDirectory(worktree.repository);
  note('planned');
  try {
    await remakeWorktree(git, worktree);
  } catch (error) {
    note('removed');
    throw error;
  }
  return note('made');
}

/** Takes back what a start made that came to nothing. */
export async function undoWorkspace(context: SessionContext, sessionId: string): Promise<void> {
  const session = context.journal.session(sessionId);
  if (session?.worktree === undefined || session.acpSessionId !== undefined) return;
  const { worktree } = session;
  try {
    await context.inTurn(() => undoWorktree(gitOf(context), worktree));
    context.journal.setWorktree(sessionId, undefined);
  } catch (error) {
    context.log.warn({ sessionId, path: worktree.path, error }, 'a worktree could not be taken back');
  }
}

const worksIn = ({ directory, worktree, additionalDirectories }: StoredSession, path: string): boolean =>
  [worktree?.directory ?? directory, ...additionalDirectories].some((folder) =>
    `${folder}/`.startsWith(`${path}/`),
  );

/** Removes a session's worktree where nothing would be lost with it. Idempotent. */
export async function archiveWorkspace(
  context: SessionContext,
  sessionId: string,
): Promise<{ worktree: 'none' | 'removed' | 'kept'; reason?: string }> {
  const worktree = context.journal.session(sessionId)?.worktree;
  if (worktree === undefined) return { worktree: 'none' };
  if (worktree.state === 'removed') return { worktree: 'removed' };
  const neighbour = context.journal
    .active()
    .find((other) => other.sessionId !== sessionId && worksIn(other, worktree.path));
  const done =
    neighbour === undefined
      ? await archiveWorktree(gitOf(context), worktree).catch(({ message }: Error) => ({ kept: message }))
      : { kept: `session ${neighbour.sessionId} works in it` };
  if ('kept' in done) return { worktree: 'kept', reason: `${worktree.path} was kept: ${done.kept}.` };
  context.journal.setWorktree(sessionId, { ...worktree, ...done, state: 'removed' });
  return { worktree: 'removed' };
}
