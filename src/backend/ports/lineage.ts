import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { isFreer, STRICTEST_MODE } from '../../core/freedom.ts';
import type { SessionsPort, SpawnRequest } from '../../core/ports/sessions.ts';
import type { PermissionMode, Session } from '../../core/session.ts';
import { sessionArchived } from '../store/session-rows.ts';
import { isAgent, refuseRaise } from './escalation.ts';

/**
 * The session that a new one is a child of. What an agent starts is a child of its own session, whatever it asks for: only
 * its token proves which one that is. @throws session_not_found | session_archived
 */
export async function parentOf(
  sessions: Pick<SessionsPort, 'get'>,
  wanted: string | undefined,
  caller: Caller,
): Promise<Session | undefined> {
  const parentId = isAgent(caller) ? caller.scope.sessionId : wanted;
  if (parentId === undefined) return undefined;
  const parent = await sessions.get(parentId);
  if (parent.archivedAt !== undefined) throw sessionArchived(parentId, parent.archivedAt);
  return parent;
}

/**
 * What the agent that asks may do itself is the most that it can give: its mode, its workspace, and nothing made on the disk
 * while it may make nothing. @throws permission_escalation_denied
 */
export function refuseGift(
  wanted: Pick<SpawnRequest, 'directory' | 'additionalDirectories' | 'createDirectory' | 'worktree'> & {
    permissionMode: PermissionMode;
  },
  parent: Session | undefined,
  caller: Caller,
): void {
  if (!isAgent(caller) || caller.approved === true) return;
  const own = parent?.permissionMode ?? STRICTEST_MODE;
  const { permissionMode } = wanted;
  refuseRaise(caller, permissionMode, own, 'the new session');
  if (isFreer('default', own) && (wanted.createDirectory === true || wanted.worktree !== undefined)) {
    throw new KaiwuError(
      'permission_escalation_denied',
      `A session in mode ${own} changes nothing, so its agent cannot have a ${wanted.worktree === undefined ? 'directory' : 'worktree'} made.`,
      { hint: 'Start the session in a directory that is there, or let a person start it.' },
    );
  }
  // Edits go unasked inside the workspace only: another workspace would be more.
  if (!isFreer(permissionMode, 'default') || own === 'bypass') return;
  const reach = [parent?.directory ?? '', ...(parent?.additionalDirectories ?? [])];
  const outside = [wanted.directory, ...(wanted.additionalDirectories ?? [])].find(
    (directory) => !reach.some((root) => isInside(directory, root)),
  );
  if (outside === undefined) return;
  throw new KaiwuError(
    'permission_escalation_denied',
    `An agent in mode ${own} cannot start a session in ${permissionMode} outside its own workspace: ${outside}.`,
    { hint: 'Ask for mode default there, or name a directory inside the workspace.' },
  );
}

/** By the words alone: what needs the disk to be told (`~`, `..`) counts as outside. */
function isInside(directory: string, root: string): boolean {
  if (root === '' || directory.split(/[\\/]/).includes('..')) return false;
  const base = root.replace(/[\\/]+$/, '');
  return (
    directory === root ||
    directory === base ||
    (directory.startsWith(base) && /^[\\/]/.test(directory.slice(base.length)))
  );
}
