import type { MachineServer } from '../../core/link.ts';
import { SERVER_LIMITS } from '../../core/managed/config.ts';
import { makeUniqueName } from '../../core/managed/unique-name.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { ShownConfig } from '../store/managed-store.ts';
import type { Book } from './book.ts';

/** Keys of servers of a machine's own file begin so. */
const FILE_PREFIX = 'file:';

/**
 * Keeps a row of each server that a machine has in its own file, with pins of its own. The row outlasts its absence from the file: a
 * file that is damaged for a moment, or edited by whoever can, must not make what comes back trusted anew.
 */
export function createMachineFiles(options: {
  book: Book;
  runtime: Pick<Runtime, 'newId'>;
  log: Logger;
}): (machineId: string, servers: readonly MachineServer[]) => Promise<void> {
  const { book, runtime, log } = options;

  const ofMachine = (machineId: string) =>
    book.list().filter(({ row }) => row.source === 'file' && row.place === machineId);

  /** Room for one more: what is no longer in the file goes first. */
  async function makeRoom(machineId: string, present: ReadonlySet<string>): Promise<boolean> {
    const rows = ofMachine(machineId).map(({ row }) => row);
    if (rows.length < SERVER_LIMITS.servers) return true;
    const absent = rows
      .filter(({ machineKey = '' }) => !present.has(machineKey))
      .toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))[0];
    if (absent === undefined) return false;
    await book.remove(absent.serverKey);
    return true;
  }

  /** What is no longer there and was never trusted with anything leaves nothing to remember: a file that could not be read, say. */
  async function forgetAbsent(machineId: string, present: ReadonlySet<string>): Promise<void> {
    for (const { row } of ofMachine(machineId)) {
      const { serverKey, machineKey = '', trustedAt } = row;
      if (trustedAt === undefined && !present.has(machineKey)) await book.remove(serverKey);
    }
  }

  return async (machineId, servers) => {
    const present = new Set(servers.map(({ state }) => state.key));
    await forgetAbsent(machineId, present);
    for (const { state, config, secrets = [] } of servers) {
      if (config === undefined || !state.key.startsWith(FILE_PREFIX)) continue;
      const stored = { config: toStored(config, machineId), secretNames: secrets };
      const row = ofMachine(machineId).find(({ row }) => row.machineKey === state.key)?.row;
      if (row !== undefined) {
        const isSame =
          JSON.stringify([row.config, row.secretNames]) === JSON.stringify([stored.config, secrets]);
        if (!isSame) await book.update(row.serverKey, stored);
        continue;
      }
      if (!(await makeRoom(machineId, present))) {
        log.warn({ machineId }, `a machine has more than ${SERVER_LIMITS.servers} servers in its file`);
        return;
      }
      const taken = book.list().map(({ row }) => row.name);
      await book.insert({
        serverKey: runtime.newId('mcps'),
        name: makeUniqueName(config.name, taken),
        source: 'file',
        place: machineId,
        machineKey: state.key,
        ...stored,
      });
    }
  };
}

function toStored(given: NonNullable<MachineServer['config']>, where: string): ShownConfig {
  const { name: _, ...config } = given;
  return { ...config, where };
}
