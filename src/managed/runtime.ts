import { KaiwuError } from '../core/errors.ts';
import type { ManagedRuntime, RunnableServer, ServerState } from '../core/managed/managed.ts';
import type { ConnectionDeps } from './connection.ts';

/**
 * What a runtime of managed servers needs. Beside the clock, chance, environment, log, vault and version of
 * {@link ConnectionDeps}:
 */
export interface ManagedRuntimeOptions extends ConnectionDeps {
  /**
   * Hears each change of a server's state, in order; tools are in it when a listing succeeded, so a holder of a cache stores
   * `state.tools` from here and hands them back as `RunnableServer.cached` at the next start. Must not throw.
   */
  onChange(state: ServerState): void;
}

export function createManagedRuntime(options: ManagedRuntimeOptions): ManagedRuntime {
  let servers: readonly RunnableServer[] = [];
  const missing = (key: string) =>
    new KaiwuError('mcp_server_not_found', `There is no managed server ${key}.`);
  return {
    apply(next) {
      servers = next;
    },
    states: () =>
      servers.map(({ key, cached }) => ({
        key,
        status: 'starting',
        ...(cached === undefined ? {} : { tools: cached }),
        warnings: [],
        noiseLines: 0,
        starts: 0,
        since: options.now().toISOString(),
      })),
    call: ({ key }) => Promise.reject(missing(key)),
    test: (key) => Promise.reject(missing(key)),
    close: () => Promise.resolve(),
  };
}
