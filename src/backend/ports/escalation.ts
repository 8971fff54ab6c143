import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { PermissionMode } from '../../core/session.ts';

/** How much an agent may do unasked in each mode. */
const FREEDOM: Record<PermissionMode, number> = {
  plan: 0,
  read_only: 0,
  default: 1,
  accept_edits: 2,
  bypass: 3,
};

export const isAgent = (caller: Caller): boolean =>
  caller.surface === 'agent' || caller.tokenKind === 'agent';

/** An agent raises neither its own mode nor another session's. @throws permission_escalation_denied */
export function refuseRaise(
  caller: Caller,
  wanted: PermissionMode | undefined,
  current: PermissionMode,
  sessionId: string,
): void {
  if (wanted === undefined || !isAgent(caller) || FREEDOM[wanted] <= FREEDOM[current]) return;
  throw new KaiwuError(
    'permission_escalation_denied',
    `An agent cannot raise the permission mode of ${sessionId} from ${current} to ${wanted}.`,
    { hint: 'A person can, from the app or the CLI.' },
  );
}
