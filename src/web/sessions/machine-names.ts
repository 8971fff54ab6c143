import { actions, must } from '../api/call.ts';
import { createLive } from '../api/live.ts';

/** Names of the machines by their ids, kept up to date. */
export function createMachineNames(): (machineId: string) => string {
  const { data } = createLive(
    async () => (await must(actions.machines.list({}))).machines,
    ({ type }) => type === 'machine.changed',
  );
  return (machineId) => data()?.find((machine) => machine.machineId === machineId)?.name ?? machineId;
}
