import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../core/ports/host.ts';
import type { MachineLinks } from '../link/link-registry.ts';
import type { BackendStore } from '../store/store.ts';
import type { Archives } from './archives.ts';
import type { Deliveries } from './deliveries.ts';
import type { Starts } from './starts.ts';

/** Sessions looked at before other work gets a turn. */
const BATCH = 50;

/** Picks up what was left for a machine when its link is back: starts first, then messages, then what was archived. */
export async function resumeMachine(
  machineId: string,
  options: {
    store: Pick<BackendStore, 'sessions' | 'messages'>;
    links: MachineLinks;
    starts: Starts;
    deliveries: Deliveries;
    archives: Archives;
    log: Logger;
  },
): Promise<void> {
  const { store, links, starts, deliveries, archives, log } = options;
  for (const [index, session] of (await store.sessions.ofMachine(machineId)).entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn();
    // The next link begins anew.
    if (!links.isLinked(machineId)) return;
    const { sessionId } = session;
    if (session.status === 'starting') {
      // Idempotent: a daemon that is at it already answers when it is done.
      starts.start(session).catch((error) => log.warn({ sessionId, reason: String(error) }, 'start failed'));
    }
    if ((await store.messages.undelivered(sessionId)).length > 0) void deliveries.deliver(sessionId);
  }
  // One after the other: each may end a process and remove a worktree.
  for (const sessionId of await store.sessions.archivedUntold(machineId)) {
    if (!links.isLinked(machineId)) return;
    await archives.tell(await store.sessions.get(sessionId));
  }
}
