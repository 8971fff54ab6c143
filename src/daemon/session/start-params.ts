import { KaiwuError } from '../../core/errors.ts';
import { type DaemonMethods, EVENT_LIMITS } from '../../core/link.ts';
import { SERVER_LIMITS } from '../../core/managed/config.ts';
import { DELIVERIES, type Delivery, PERMISSION_MODES, type PermissionMode } from '../../core/session.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Journal } from '../journal/journal.ts';
import type { StoredSession } from '../journal/rows.ts';

const MAX_DIRECTORIES = 50;
const MAX_VARIABLES = 100;
const MAX_VARIABLE_NAME = 200;
/** Characters of all values together: they travel with the start of each process that the agent starts. */
const MAX_ENVIRONMENT = 64 * 1024;
const MAX_BRANCH = 200;
const MAX_SERVERS = 500;

/** Ours say who an agent is; the others have programs load code before their own. */
const NOT_OURS_TO_GIVE = /^(KAIWU_.*|LD_.*|DYLD_.*|NODE_OPTIONS)$/i;

/** What a start may ask for. @throws invalid_input naming the field; values of variables are not repeated */
export function checkStart(params: DaemonMethods['session.start']['params']): void {
  checkMode(params.permissionMode);
  const directories = params.additionalDirectories ?? [];
  if (directories.length > MAX_DIRECTORIES) {
    throw invalid('additionalDirectories', `has ${directories.length} entries, more than ${MAX_DIRECTORIES}`);
  }
  for (const [i, directory] of directories.entries()) checkText(`additionalDirectories.${i}`, directory);
  checkText('directory', params.directory);
  if (params.worktree !== undefined) {
    const { branch } = params.worktree;
    checkText('worktree.branch', branch, MAX_BRANCH);
    // Two names that look alike are one to people.
    if (toVisibleText(branch, { singleLine: true }) !== branch)
      throw invalid('worktree.branch', 'has characters that cannot be seen');
    if (params.worktree.base !== undefined) checkText('worktree.base', params.worktree.base, MAX_BRANCH);
  }
  const servers: unknown = params.mcpServers ?? [];
  if (!Array.isArray(servers) || servers.length > MAX_SERVERS)
    throw invalid('mcpServers', 'is no list of names');
  for (const [i, name] of servers.entries()) checkText(`mcpServers.${i}`, name, SERVER_LIMITS.name);
  checkEnvironment(params.environment ?? {});
}

function checkText(path: string, value: unknown, max: number = EVENT_LIMITS.path): void {
  if (typeof value !== 'string' || value === '') throw invalid(path, 'is not a text');
  if (value.length > max) throw invalid(path, `has ${value.length} characters, more than ${max}`);
  if (value.includes('\0')) throw invalid(path, 'contains a NUL character');
}

function checkEnvironment(environment: Record<string, string>): void {
  const entries = Object.entries(environment);
  if (entries.length > MAX_VARIABLES) {
    throw invalid('environment', `has ${entries.length} variables, more than ${MAX_VARIABLES}`);
  }
  for (const [name, value] of entries) {
    const path = `environment.${name.slice(0, MAX_VARIABLE_NAME)}`;
    if (!/^[A-Za-z_]\w*$/.test(name) || name.length > MAX_VARIABLE_NAME) {
      throw invalid(path, 'is not a name of a variable: letters, digits and _, no digit first');
    }
    if (NOT_OURS_TO_GIVE.test(name)) throw invalid(path, 'is a variable that a session cannot be given');
    if (typeof value !== 'string' || value.includes('\0')) throw invalid(path, 'has a value that is no text');
  }
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > MAX_ENVIRONMENT) {
    throw invalid('environment', `has ${size} characters, more than ${MAX_ENVIRONMENT}`);
  }
}

/**
 * The agent's own id of the conversation that a session goes on with, if it is to go on with one.
 * @throws session_not_found | invalid_input | conflict
 */
export function toForkId(
  journal: Pick<Journal, 'session'>,
  { forkOf, agentId }: Pick<StoredSession, 'forkOf' | 'agentId'>,
): string | undefined {
  if (forkOf === undefined) return undefined;
  const source = journal.session(forkOf);
  if (source === undefined) {
    throw new KaiwuError('session_not_found', `This machine’s daemon has no session ${forkOf} to fork.`, {
      hint: 'A session is forked on the machine that it runs on.',
    });
  }
  if (source.agentId !== agentId) {
    throw invalid('agentId', `is ${agentId}, and the session to fork belongs to ${source.agentId}`);
  }
  if (source.acpSessionId === undefined) {
    throw new KaiwuError('conflict', `Session ${forkOf} has not started yet, so there is nothing to fork.`);
  }
  return source.acpSessionId;
}

/** A newer backend may know modes that this daemon does not; none is quietly replaced by another. */
export function checkMode(mode: PermissionMode): void {
  if (PERMISSION_MODES.includes(mode)) return;
  const message = `permissionMode ${JSON.stringify(mode)} is not known to this daemon`;
  throw new KaiwuError('invalid_input', message, {
    hint: `Use one of ${PERMISSION_MODES.join(', ')}, or update Kaiwu on the machine.`,
    details: { issues: [{ path: 'permissionMode', message, received: mode }] },
  });
}

/** @throws invalid_input */
export function checkDelivery(delivery: Delivery): void {
  if (DELIVERIES.includes(delivery)) return;
  throw invalid('delivery', `is none of ${DELIVERIES.join(', ')}`);
}

const invalid = (path: string, what: string): KaiwuError => {
  const message = `${path} ${what}`;
  return new KaiwuError('invalid_input', `${message}.`, { details: { issues: [{ path, message }] } });
};
