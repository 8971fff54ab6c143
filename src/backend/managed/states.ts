import type { MachineServer } from '../../core/link.ts';
import type { ServerState } from '../../core/managed/managed.ts';
import type { StoredServer } from '../store/managed-store.ts';

/** Key under which a machine knows a server. */
export const keyAtMachine = ({ machineKey, serverKey }: StoredServer): string => machineKey ?? serverKey;

export const BACKEND = 'backend';

/** What the places where servers run say of them now. Nothing of it is stored. */
export interface States {
  /** Undefined while its place has said nothing of it. */
  of(row: StoredServer): ServerState | undefined;
  /** Whether the machine has told of its servers since it linked. */
  hasTold(machineId: string): boolean;
  /** A state of a server that runs here. */
  note(state: ServerState): void;
  /** All servers of a machine. */
  noteMachine(machineId: string, servers: readonly MachineServer[]): void;
  /** One server of a machine, as it answered to a test. */
  noteOne(machineId: string, state: ServerState): void;
  /** The machine is gone, and what it said no longer holds. */
  forgetMachine(machineId: string): void;
  /** What a server that is gone from here left. */
  forget(row: StoredServer): void;
  /** Resolves when its place has said how it does (anything but `starting`), or after `ms`. */
  settled(row: StoredServer, ms: number, signal?: AbortSignal): Promise<void>;
}

export function createStates(): States {
  const places = new Map<string, Map<string, ServerState>>([[BACKEND, new Map()]]);
  const waiting = new Set<() => void>();
  const at = (place: string) => {
    const states = places.get(place) ?? new Map<string, ServerState>();
    places.set(place, states);
    return states;
  };
  const told = () => {
    for (const look of Array.from(waiting)) look();
  };

  const of: States['of'] = (row) => places.get(row.place)?.get(keyAtMachine(row));

  return {
    of,
    hasTold: (machineId) => places.has(machineId),
    note(state) {
      at(BACKEND).set(state.key, state);
      told();
    },
    noteMachine(machineId, servers) {
      places.set(machineId, new Map(servers.map(({ state }) => [state.key, state])));
      told();
    },
    noteOne(machineId, state) {
      places.get(machineId)?.set(state.key, state);
      told();
    },
    forgetMachine: (machineId) => void places.delete(machineId),
    forget: (row) => void places.get(row.place)?.delete(keyAtMachine(row)),
    settled: (row, ms, signal) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(look);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const look = () => {
          const status = of(row)?.status;
          if (status !== undefined && status !== 'starting') end();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener('abort', end);
        waiting.add(look);
        look();
      }),
  };
}
