import { KaiwuError } from '../../core/errors.ts';
import type { BackendMethods, MachineServer } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { RpcPeer } from '../../core/rpc-peer.ts';

/** Shortest time between two reports, milliseconds: servers that come and go as they like do not flood the link. */
const EVERY_MS = 250;
/** Before a report that was not taken is sent again, milliseconds; doubles each time. */
const AGAIN_MIN_MS = 1000;
const AGAIN_MAX_MS = 60_000;
const ANSWER_MS = 30_000;

/** Tells the backend how the servers of this machine do: whole after each hello, and whenever that changed. */
export interface StatesTeller {
  up(peer: RpcPeer<BackendMethods>): void;
  down(): void;
  changed(): void;
}

export function createStatesTeller(options: { report(): MachineServer[]; log: Logger }): StatesTeller {
  let peer: RpcPeer<BackendMethods> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let due = false;
  /** JSON of what the backend took last over this link. */
  let told: string | undefined;
  let failures = 0;

  function later(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      if (due) void tell();
    }, ms);
  }

  async function tell(): Promise<void> {
    const over = peer;
    if (over === undefined || busy) return;
    due = false;
    const servers = options.report();
    const now = JSON.stringify(servers);
    if (now === told) return;
    busy = true;
    let waitMs = EVERY_MS;
    try {
      await over.request('mcp.states', { servers }, ANSWER_MS);
      if (over === peer) told = now;
      failures = 0;
    } catch (error) {
      // A backend that does not know of managed servers learns it with its next version, over another link.
      const isOlder = error instanceof KaiwuError && error.code === 'daemon_too_old';
      due ||= !isOlder;
      waitMs = Math.min(AGAIN_MAX_MS, AGAIN_MIN_MS * 2 ** failures++);
      if (over === peer)
        options.log.warn({ error, waitMs }, 'the backend did not take the states of MCP servers');
    } finally {
      if (over === peer) {
        busy = false;
        later(waitMs);
      }
    }
  }

  return {
    up(over) {
      peer = over;
      told = undefined;
      failures = 0;
      busy = false;
      due = true;
      void tell();
    },
    down() {
      peer = undefined;
      busy = false;
      clearTimeout(timer);
      timer = undefined;
    },
    changed() {
      due = true;
      if (timer === undefined) void tell();
    },
  };
}
