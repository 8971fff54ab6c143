import type { WebSocket } from 'ws';
import type { Identity } from '../../core/engine.ts';
import { LINK_DEAD_MS, LINK_PING_MS, type MachineServer } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Revocations } from '../revocations.ts';
import type { RandomBytes } from '../secrets.ts';
import type { BackendStore } from '../store/store.ts';
import { acceptLink, type LinkConnection } from './link-connection.ts';
import { createLinkRegistry, type MachineLinks } from './link-registry.ts';
import type { LinkTimings } from './link-socket.ts';

const DEFAULT_TIMINGS: LinkTimings = {
  pingMs: LINK_PING_MS,
  deadMs: LINK_DEAD_MS,
  helloMs: 10_000,
  probeMs: 5000,
};

export interface LinkServerOptions {
  store: Pick<BackendStore, 'machines' | 'sessions' | 'transcripts' | 'feed' | 'identity'>;
  runtime: Pick<Runtime, 'monotonicMs' | 'newId' | 'sha256'>;
  randomBytes: RandomBytes;
  log: Logger;
  /** Of this backend, for the welcome. */
  version: string;
  revocations: Revocations;
  timings?: Partial<LinkTimings>;
  /** A machine has been welcomed: what waited for it can go on. */
  onLinked(machineId: string): void;
  /** How the managed servers of a machine do, whole. */
  onServers(machineId: string, servers: MachineServer[]): Promise<void>;
}

export interface LinkServer extends MachineLinks {
  /** Takes over a socket that was upgraded for this bearer. */
  accept(ws: WebSocket, bearer: Identity): void;
  /** Ends every link with 1012 and waits until the store knows. */
  close(): Promise<void>;
}

/** The backend's end of the machine links. */
export function createLinkServer(options: LinkServerOptions): LinkServer {
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const registry = createLinkRegistry({
    machines: options.store.machines,
    log: options.log,
    probeMs: timings.probeMs,
  });
  const open = new Set<LinkConnection>();
  let closing = false;

  return {
    accept(ws, bearer) {
      if (closing) return ws.close(1012, 'the backend is going down');
      const connection = acceptLink(ws, bearer, { ...options, timings, registry });
      open.add(connection);
      void connection.closed.then(() => open.delete(connection));
    },
    request: registry.request,
    notify: registry.notify,
    isLinked: registry.isLinked,
    async close() {
      closing = true;
      for (const connection of open) connection.close(1012, 'the backend is going down');
      await Promise.all([...open].map((connection) => connection.closed));
    },
  };
}
