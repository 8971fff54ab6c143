import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Machine } from '../../core/ports/fleet.ts';
import type { MachineStore } from '../store/store.ts';

type KnownMachine = Omit<Machine, 'current'>;

const PREFIX = 'mach_';

/**
 * The machine that a call means: the named one (id, a prefix of it that fits one machine only, or name), else the
 * caller's own, else the only one. @throws machine_not_found | daemon_not_running | invalid_input
 */
export async function chooseMachine(
  machines: Pick<MachineStore, 'list'>,
  wanted: string | undefined,
  caller: Caller,
): Promise<KnownMachine> {
  const known = await machines.list();
  if (wanted !== undefined) return namedMachine(known, wanted);
  const own = known.find((machine) => machine.machineId === caller.machineId);
  const only = known.length === 1 ? known[0] : undefined;
  const chosen = own ?? only;
  if (chosen !== undefined) return chosen;
  if (known.length === 0) {
    throw new KaiwuError(
      'daemon_not_running',
      'No machine is registered: no daemon has linked to this backend.',
      {
        hint: 'Run `kaiwu daemon start` on the machine that shall run the agent.',
      },
    );
  }
  const message = 'is needed: this caller is on none of the machines';
  throw new KaiwuError('invalid_input', `machineId ${message}.`, {
    hint: `Name one of: ${known.map((machine) => machine.machineId).join(', ')}.`,
    details: { issues: [{ path: 'machineId', message }], candidates: toCandidates(known) },
  });
}

function namedMachine(known: KnownMachine[], wanted: string): KnownMachine {
  const exact = known.find((machine) => machine.machineId === wanted);
  if (exact !== undefined) return exact;
  const prefix = wanted.startsWith(PREFIX) ? wanted : PREFIX + wanted;
  const matches = known.filter(
    (machine) => machine.name === wanted || (prefix !== PREFIX && machine.machineId.startsWith(prefix)),
  );
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  const shown = JSON.stringify(wanted.slice(0, 80));
  const candidates = matches.length > 0 ? matches : known;
  throw new KaiwuError(
    'machine_not_found',
    matches.length > 0 ? `${shown} fits ${matches.length} machines.` : `No machine ${shown} is known.`,
    {
      hint: `Known: ${candidates.map((machine) => `${machine.machineId} (${machine.name})`).join(', ') || 'none'}.`,
      details: { candidates: toCandidates(candidates) },
    },
  );
}

const toCandidates = (machines: KnownMachine[]) =>
  machines.slice(0, 10).map(({ machineId, name, online }) => ({ machineId, name, online }));

/** Why a machine cannot be asked now: its daemon is not running where the caller is, or it is offline elsewhere. */
export async function toOfflineError(
  machines: Pick<MachineStore, 'get'>,
  machineId: string,
  caller: Caller,
): Promise<KaiwuError> {
  const machine = await machines.get(machineId);
  const since = machine?.lastSeenAt;
  const details = { machineId, ...(since === undefined ? {} : { since }) };
  if (caller.machineId === machineId) {
    return new KaiwuError('daemon_not_running', 'The daemon of this machine is not running.', {
      hint: 'Run `kaiwu daemon start`.',
      details,
    });
  }
  const name = machine === undefined ? machineId : `${machine.name} (${machineId})`;
  return new KaiwuError('machine_offline', `Machine ${name} is offline since ${since ?? 'ever'}.`, {
    hint: 'Run `kaiwu daemon start` on it, or wait until it is back.',
    details,
  });
}
