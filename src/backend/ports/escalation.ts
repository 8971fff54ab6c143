import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { isFreer } from '../../core/freedom.ts';
import type { PermissionMode } from '../../core/session.ts';

export const isAgent = (caller: Caller): boolean =>
  caller.surface === 'agent' || caller.tokenKind === 'agent';

/** An agent raises neither its own mode nor another session's, unless a person allowed that very call. @throws permission_escalation_denied */
export function refuseRaise(
  caller: Caller,
  wanted: PermissionMode | undefined,
  current: PermissionMode,
  sessionId: string,
): void {
  if (wanted === undefined || caller.approved === true || !isAgent(caller) || !isFreer(wanted, current))
    return;
  throw new KaiwuError(
    'permission_escalation_denied',
    `An agent cannot raise the permission mode of ${sessionId} from ${current} to ${wanted}.`,
    { hint: `Ask for ${current} or stricter by name, or let a person do it from the app or the CLI.` },
  );
}
