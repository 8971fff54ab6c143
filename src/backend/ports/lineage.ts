import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { isFreer, STRICTEST_MODE } from '../../core/freedom.ts';
import type { SessionsPort, SpawnRequest } from '../../core/ports/sessions.ts';
import { MAX_TREE_AT_WORK, type PermissionMode, type Session } from '../../core/session.ts';
import { sessionArchived } from '../store/session-rows.ts';
import type { MessageStore } from '../store/store.ts';
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
 * The most that an agent may do now: what its session may, or what the message whose turn runs was held to.
 * Whoever calls as an agent and cannot prove a session is held to the strictest.
 */
export async function ownFreedom(
  store: { sessions: Pick<SessionsPort, 'get'>; messages: Pick<MessageStore, 'runningMode'> },
  caller: Caller,
): Promise<PermissionMode> {
  const { sessionId } = caller.scope;
  if (sessionId === undefined) return STRICTEST_MODE;
  const { permissionMode } = await store.sessions.get(sessionId);
  const running = await store.messages.runningMode(sessionId);
  return running !== undefined && isFreer(permissionMode, running) ? running : permissionMode;
}

/**
 * An agent has nothing done by another session that it may not do itself: the other may be freer than it, because a person
 * has raised the one or lowered the other since. @throws permission_escalation_denied
 */
export async function refuseFreerHelp(
  store: Parameters<typeof ownFreedom>[0],
  caller: Caller,
  sessionId: string,
  mode: PermissionMode,
): Promise<void> {
  if (!isAgent(caller) || caller.approved === true) return;
  const own = await ownFreedom(store, caller);
  if (!isFreer(mode, own)) return;
  throw denied(
    `An agent in mode ${own} cannot have session ${sessionId} work in ${mode}.`,
    `Pass permissionModeOverride ${own} or stricter, or let a person send it.`,
  );
}

/**
 * What the agent that asks may do itself is the most that it can give: its mode, its machine, its directories, and nothing made
 * on the disk while it may make nothing. Variables can turn any program into another one, so only an agent that asks nobody
 * anyway gives them. A person can allow more.
 * @param own the agent's mode @returns the directories that a child must lie in; undefined where it may lie anywhere
 * @throws permission_escalation_denied
 */
export function refuseGift(
  wanted: Omit<SpawnRequest, 'agentId'> & { permissionMode: PermissionMode; machineId: string },
  parent: Session | undefined,
  own: PermissionMode,
  caller: Caller,
): string[] | undefined {
  if (!isAgent(caller) || caller.approved === true) return undefined;
  refuseRaise(caller, wanted.permissionMode, own, 'the new session');
  if (parent !== undefined && wanted.machineId !== parent.machineId) {
    throw denied(
      `An agent cannot start a session on another machine than its own: ${wanted.machineId}.`,
      'Leave machineId out, or let a person start it or approve it.',
    );
  }
  if (isFreer('default', own) && (wanted.createDirectory === true || wanted.worktree !== undefined)) {
    throw denied(
      `A session in mode ${own} changes nothing, so its agent cannot have a ${wanted.worktree === undefined ? 'directory' : 'worktree'} made.`,
      'Start the session in a directory that is there, or let a person start it.',
    );
  }
  if (own === 'bypass') return undefined;
  const names = Object.keys(wanted.environment ?? {});
  if (names.length > 0) {
    throw denied(
      `An agent in mode ${own} cannot give variables to a session: ${names.slice(0, 10).join(', ')}.`,
      'Leave environment out, or let a person start it.',
    );
  }
  const reach = parent === undefined ? [] : [parent.directory, ...(parent.additionalDirectories ?? [])];
  const outside = [wanted.directory, ...(wanted.additionalDirectories ?? [])].find(
    (directory) => !reach.some((root) => isInside(directory, root)),
  );
  if (outside === undefined) return reach;
  throw denied(
    `An agent in mode ${own} cannot start a session outside its own directories: ${outside}.`,
    'Name a directory inside the workspace, or let a person start it or approve it.',
  );
}

/**
 * Managed servers whose tools a new session may use: a child gets no more than its parent has.
 * @returns undefined for all that the servers themselves allow @throws permission_escalation_denied
 */
export function toServers(
  wanted: string[] | undefined,
  parent: Pick<Session, 'sessionId' | 'mcpServers'> | undefined,
): string[] | undefined {
  const most = parent?.mcpServers;
  if (wanted === undefined) return most;
  const more = most === undefined ? undefined : wanted.find((name) => !most.includes(name));
  if (more === undefined) return [...new Set(wanted)].toSorted();
  throw denied(
    `A child of session ${parent?.sessionId} cannot get the MCP server ${more}, which its parent does not have.`,
    `Leave mcpServers out, or name some of: ${most?.join(', ') || 'none'}.`,
  );
}

/** An agent starts no more than so many; a person may. */
export const toTreeLimit = (caller: Caller): { maxAtWork?: number } =>
  isAgent(caller) && caller.approved !== true ? { maxAtWork: MAX_TREE_AT_WORK } : {};

const denied = (message: string, hint: string) =>
  new KaiwuError('permission_escalation_denied', message, { hint });

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
