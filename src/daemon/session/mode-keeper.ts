import { isFreer, STRICTEST_MODE } from '../../core/freedom.ts';
import type { PermissionMode, SessionEventBody } from '../../core/session.ts';
import type { Turn } from './turn.ts';

/** In one turn. An agent that changes its mode again and again is not argued with: what it asks is judged by ours. */
const MAX_PUT_BACK = 3;

/** An agent may tighten its own mode; it may loosen it only where a person has just allowed that. */
export function createModeKeeper(options: {
  append(event: SessionEventBody): void;
  turn(): Turn | undefined;
  sessionMode(): PermissionMode;
  putBack(mode: PermissionMode): void;
}) {
  let left = MAX_PUT_BACK;
  let during: Turn | undefined;
  return function onModeChanged(agentModeId: string, mode: PermissionMode | undefined): void {
    const turn = options.turn();
    if (turn !== during) left = MAX_PUT_BACK;
    during = turn;
    const wanted = turn?.modeOverride ?? options.sessionMode();
    const allowed =
      mode !== undefined &&
      (!isFreer(mode, wanted) || (turn?.modeSwitchAllowed === true && wanted !== STRICTEST_MODE));
    if (!allowed) {
      const text = `The agent changed to its mode ${agentModeId.slice(0, 200)} by itself, which is freer than ${wanted}.`;
      options.append({ type: 'notice', text });
      left -= 1;
      if (left >= 0) options.putBack(wanted);
    } else if (turn?.modeOverride !== undefined) {
      turn.modeOverride = mode;
    } else if (mode !== wanted) {
      options.append({ type: 'mode_changed', permissionMode: mode });
    }
  };
}
