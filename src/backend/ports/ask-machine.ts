import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { DaemonMethod, DaemonMethods } from '../../core/link.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { MachineStore } from '../store/store.ts';
import { toOfflineError } from './machines-of.ts';

/** Asks a daemon on behalf of a caller. @throws daemon_not_running | machine_offline | timeout | what it threw */
export type AskMachine = <K extends DaemonMethod>(
  machineId: string,
  method: K,
  params: DaemonMethods[K]['params'],
  caller: Caller,
  timeoutMs?: number,
) => Promise<DaemonMethods[K]['result']>;

/** Milliseconds for what a daemon answers without starting an agent. */
const ASK_TIMEOUT_MS = 30_000;

export function createAskMachine(options: {
  links: MachineLinks;
  machines: Pick<MachineStore, 'get'>;
}): AskMachine {
  return async (machineId, method, params, caller, timeoutMs = ASK_TIMEOUT_MS) => {
    try {
      return await options.links.request(machineId, method, params, timeoutMs);
    } catch (error) {
      if (!(error instanceof KaiwuError && error.code === 'machine_offline')) throw error;
      throw await toOfflineError(options.machines, machineId, caller);
    }
  };
}
