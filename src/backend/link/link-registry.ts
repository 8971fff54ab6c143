import { KaiwuError } from '../../core/errors.ts';
import type { BackendNotices, DaemonMethod, DaemonMethods, LinkHello } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { RpcPeer } from '../../core/rpc-peer.ts';
import type { MachineStore } from '../store/store.ts';
import type { LinkSocket } from './link-socket.ts';

const CLOSE = { alreadyLinked: 4409, replaced: 4410 } as const;

/** A socket that has said who it is. */
export interface Link {
  machineId: string;
  instanceId: string;
  socket: LinkSocket;
  peer: RpcPeer<DaemonMethods>;
  /** Set once it has its welcome. */
  ready: boolean;
}

/** What the rest of the backend needs of the links. */
export interface MachineLinks {
  /** @throws machine_offline when the machine is not linked or its link closes; `timeout`; what the daemon threw */
  request<K extends DaemonMethod>(
    machineId: string,
    method: K,
    params: DaemonMethods[K]['params'],
    timeoutMs: number,
  ): Promise<DaemonMethods[K]['result']>;
  /** Tells without waiting; lost where the machine is not linked. */
  notify<K extends keyof BackendNotices>(machineId: string, method: K, params: BackendNotices[K]): void;
  isLinked(machineId: string): boolean;
}

export interface LinkRegistry extends MachineLinks {
  /** Makes it the one link of its machine. @throws conflict when another daemon holds the machine and answers */
  claim(link: Link, hello: LinkHello): Promise<void>;
  /** Forgets a link that closed. The machine is offline unless another link has taken over. */
  remove(link: Link): Promise<void>;
}

/** One live link a machine. */
export function createLinkRegistry(options: {
  machines: Pick<MachineStore, 'connect' | 'disconnect'>;
  log: Logger;
  probeMs: number;
}): LinkRegistry {
  const live = new Map<string, Link>();
  const turns = new Map<string, Promise<unknown>>();

  /** One change of a machine at a time, so that a goodbye never overtakes the next hello. */
  function inTurn<T>(machineId: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(machineId) ?? Promise.resolve()).then(work, work);
    turns.set(machineId, turn);
    const forget = () => {
      if (turns.get(machineId) === turn) turns.delete(machineId);
    };
    turn.then(forget, forget);
    return turn;
  }

  return {
    claim: (link, hello) =>
      inTurn(link.machineId, async () => {
        const holder = live.get(link.machineId);
        if (holder !== undefined && holder.instanceId !== link.instanceId) {
          if (await holder.socket.isAlive(options.probeMs)) {
            link.socket.close(CLOSE.alreadyLinked, 'machine already linked');
            throw new KaiwuError(
              'conflict',
              `machine ${link.machineId} is already linked by another daemon.`,
              {
                hint: 'Stop the other daemon of this machine first: `kaiwu daemon status` names it.',
              },
            );
          }
        }
        if (link.socket.closed) throw new KaiwuError('canceled', 'the link closed during its hello.');
        live.set(link.machineId, link);
        holder?.socket.close(CLOSE.replaced, 'replaced by a newer link');
        holder?.peer.close();
        await options.machines.connect(hello);
      }),
    remove: (link) =>
      inTurn(link.machineId, async () => {
        if (live.get(link.machineId) !== link) return;
        live.delete(link.machineId);
        await options.machines.disconnect(link.machineId);
      }).catch((error) => {
        options.log.error({ machineId: link.machineId, error }, 'could not note that a machine went offline');
      }),
    request(machineId, method, params, timeoutMs) {
      const link = live.get(machineId);
      if (link?.ready !== true) {
        return Promise.reject(new KaiwuError('machine_offline', `machine ${machineId} is not linked.`));
      }
      return link.peer.request(method, params, timeoutMs);
    },
    notify(machineId, method, params) {
      const link = live.get(machineId);
      if (link?.ready === true) link.peer.notify(method, params);
    },
    isLinked: (machineId) => live.get(machineId)?.ready === true,
  };
}
