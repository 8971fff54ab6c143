import type { Runtime } from '../ports/stores.ts';
import { SURFACES } from '../spec.ts';

/** Characters of a tool's name in a list: with a host's `mcp__kaiwu__` before it these are 64, which is as many as any host takes. */
export const MAX_TOOL_NAME = 52;

/** Family of all actions that are tools of managed servers. */
export const MANAGED_FAMILY = 'managed';

/** Whether a managed tool could be called so: by its id, or by the name that parts its server from it. */
export const isManagedName = (name: string): boolean =>
  name.startsWith(`${MANAGED_FAMILY}.`) || name.includes('__');

/** Names of a managed tool: of its action, and of the tool in a host's list. */
export interface ManagedNames {
  /** `managed.<server>.<slug>`. */
  actionId: string;
  /** `<server>__<slug>`. */
  toolName: string;
  /** Letters, digits, `_` and `-`. */
  slug: string;
}

/** What a shortened or rewritten name ends in. A name that ends so by itself is rewritten as well, so that none can pose as another's. */
const MARK = '_x';
const HASH_LENGTH = 8;
const MARKED = new RegExp(`${MARK}[0-9a-f]{${HASH_LENGTH}}$`, 'i');

/** Last words of a policy path that are read as a surface or a setting. */
const RESERVED = new Set<string>([...SURFACES, 'enabled', 'approval', 'exposure']);

/**
 * Names of a server's tool, from these two alone: the same after a restart, in any order, beside any others. The tool's own name is
 * kept where it can be, else it is a readable part of it with a hash of the whole.
 * @param server as `makeUniqueName` made it
 * @param tool the server's own name of the tool
 */
export function toManagedNames(server: string, tool: string, sha256: Runtime['sha256']): ManagedNames {
  const room = MAX_TOOL_NAME - server.length - 2;
  const slug = isPlain(tool, room) ? tool : toMarked(tool, room, sha256);
  return { actionId: `${MANAGED_FAMILY}.${server}.${slug}`, toolName: `${server}__${slug}`, slug };
}

const isPlain = (tool: string, room: number): boolean =>
  /^[A-Za-z0-9_-]+$/.test(tool) &&
  tool.length <= room &&
  !RESERVED.has(tool.toLowerCase()) &&
  !MARKED.test(tool);

function toMarked(tool: string, room: number, sha256: Runtime['sha256']): string {
  const hash = sha256(tool).slice(0, HASH_LENGTH);
  const readable = tool.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, room - MARK.length - HASH_LENGTH);
  return `${readable.replace(/_+$/, '')}${MARK}${hash}`;
}
