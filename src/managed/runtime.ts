import { KaiwuError } from '../core/errors.ts';
import type { ManagedRuntime, RunnableServer, ServerState } from '../core/managed/managed.ts';
import { createGuardian, type Guardian } from '../process/guardian.ts';
import type { ConnectionDeps, OpenTransport } from './connection.ts';
import { openHttp } from './http/open-http.ts';
import { createManagedServer, type ManagedServer } from './server.ts';
import { createOpenStdio } from './stdio/open-stdio.ts';

/**
 * What a runtime of managed servers needs. Beside the clock, chance, environment, log, network, vault and version of
 * {@link ConnectionDeps}:
 */
export interface ManagedRuntimeOptions extends ConnectionDeps {
  /**
   * Hears each change of a server's state, in order; tools are in it when a listing succeeded, so a holder of a cache stores
   * `state.tools` from here and hands them back as `RunnableServer.cached` at the next start. Must not throw.
   */
  onChange(state: ServerState): void;
}

/** What makes a server another one, that has to be started anew. */
const connectionOf = ({ config }: RunnableServer): string =>
  JSON.stringify([
    config.url,
    config.command,
    config.args,
    config.env,
    config.cwd,
    config.token,
    config.headers,
    config.oauth,
    config.caFile,
    config.enabled !== false,
  ]);

export function createManagedRuntime({ onChange, ...deps }: ManagedRuntimeOptions): ManagedRuntime {
  const servers = new Map<string, { managed: ManagedServer; connection: string }>();
  /** Servers that were taken out and are not known to be gone yet. */
  const leaving = new Set<ManagedServer>();
  let guardian: Guardian | undefined;
  let isClosed = false;

  const openFor = ({ config }: RunnableServer): OpenTransport => {
    if (config.url !== undefined) return openHttp;
    guardian ??= createGuardian();
    return createOpenStdio(guardian);
  };

  async function leave(managed: ManagedServer): Promise<void> {
    leaving.add(managed);
    await managed.close();
    leaving.delete(managed);
  }

  function find(key: string): ManagedServer {
    const found = servers.get(key)?.managed;
    if (found !== undefined) return found;
    throw new KaiwuError(
      'mcp_server_not_found',
      `There is no managed MCP server ${JSON.stringify(key)} here.`,
      {
        hint: '`kaiwu mcp servers list` shows those that there are.',
      },
    );
  }

  return {
    apply(next) {
      if (isClosed) return;
      const wanted = new Map(next.map((server) => [server.key, server]));
      const gone = new Map<string, Promise<void>>();
      for (const [key, { managed, connection }] of servers) {
        const server = wanted.get(key);
        if (server !== undefined && connectionOf(server) === connection) {
          managed.setServer(server);
          continue;
        }
        servers.delete(key);
        gone.set(
          key,
          leave(managed).catch((error: unknown) => {
            deps.log.warn(
              { server: key, error },
              'a managed server did not end; it is ended again at the close',
            );
          }),
        );
      }
      for (const [key, server] of wanted) {
        if (servers.has(key)) continue;
        const managed = createManagedServer({
          server,
          deps,
          open: openFor(server),
          after: gone.get(key),
          onChange,
        });
        servers.set(key, { managed, connection: connectionOf(server) });
        managed.begin();
      }
    },
    states: () => [...servers.values()].map(({ managed }) => managed.state()),
    call: async (call, signal) => find(call.key).call(call, signal),
    test: async (key, signal) => find(key).test(signal),
    async close() {
      isClosed = true;
      for (const { managed } of servers.values()) leaving.add(managed);
      servers.clear();
      const ends = await Promise.allSettled([...leaving].map(leave));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      guardian?.close();
      guardian = undefined;
    },
  };
}
