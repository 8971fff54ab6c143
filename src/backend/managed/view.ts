import type { ServerState } from '../../core/managed/managed.ts';
import type { Machine } from '../../core/ports/fleet.ts';
import { MANAGED_TOOL_STATES, type ManagedServer } from '../../core/ports/managed.ts';
import { findUnusedPatterns } from '../../core/managed/filter.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { StoredServer } from '../store/managed-store.ts';
import type { KnownServer } from './book.ts';
import type { Places } from './places.ts';
import { BACKEND, type States } from './states.ts';

type Seen = Omit<ServerState, 'key' | 'tools'>;
type KnownMachine = Pick<Machine, 'name' | 'lastSeenAt'> | undefined;

/** Servers as people see them. */
export interface View {
  /** @param machine where it runs on one */
  toServer(server: KnownServer, machine: KnownMachine): ManagedServer;
  /** Whether a server that was of a machine's file is no longer in it. */
  isDropped(row: StoredServer): boolean;
}

export function createView(options: {
  states: Pick<States, 'of' | 'hasTold'>;
  places: Pick<Places, 'problemOf' | 'isLost'>;
  links: Pick<MachineLinks, 'isLinked'>;
}): View {
  const { states, places, links } = options;

  const isDropped: View['isDropped'] = (row) =>
    row.source === 'file' && states.hasTold(row.place) && states.of(row) === undefined;

  /** What is known without asking the place, first. */
  function seen(row: StoredServer, machine: KnownMachine): Seen {
    const still = (status: ServerState['status'], reason?: string): Seen => ({
      status,
      ...(reason === undefined ? {} : { reason }),
      warnings: [],
      noiseLines: 0,
      starts: 0,
      since: row.updatedAt,
    });
    if (row.config === undefined) {
      return still('failed', 'What is stored of its settings is damaged. Remove it and add it again.');
    }
    if (row.config.enabled === false) return still('disabled');
    if (places.isLost(row)) {
      const names = row.secretNames.join(', ');
      return still('failed', `Its sealed values do not open any more. Give these again: ${names}.`);
    }
    if (row.place !== BACKEND && !links.isLinked(row.place)) return still('failed', offline(row, machine));
    const problem = row.source === 'account' ? places.problemOf(row.place) : undefined;
    if (problem !== undefined) return still('failed', problem.message);
    if (isDropped(row)) {
      return still('disabled', `It is no longer in the file of machine ${machine?.name ?? row.place}.`);
    }
    const state = states.of(row);
    if (state === undefined) return still('starting');
    const { key: _, tools: __, ...rest } = state;
    return rest;
  }

  return {
    isDropped,
    toServer({ row, tools }, machine) {
      const counts = Object.fromEntries(MANAGED_TOOL_STATES.map((state) => [state, 0]));
      for (const { state } of tools) counts[state] = (counts[state] ?? 0) + 1;
      const { warnings, ...state } = seen(row, machine);
      const unused = findUnusedPatterns(
        row.config ?? {},
        row.listing === undefined ? ['*'] : row.listing.map(({ name }) => name),
      );
      return {
        name: row.name,
        source: row.source,
        where: row.place,
        ...state,
        warnings: [...warnings, ...(row.listing === undefined ? [] : unused)],
        config: row.config ?? {},
        secrets: row.secretNames,
        toolCounts: counts as ManagedServer['toolCounts'],
      };
    },
  };
}

const offline = ({ place }: StoredServer, machine: KnownMachine): string =>
  `machine_offline: machine ${machine?.name ?? place} was last seen ${machine?.lastSeenAt ?? 'never'}. Run \`kaiwu daemon start\` on it.`;
