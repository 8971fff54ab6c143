import { KaiwuError } from '../../core/errors.ts';
import type { ManagedServersPort, ManagedToolsPort } from '../../core/ports/managed.ts';

/** Managed servers of this backend. */
export function createManaged(): { servers: ManagedServersPort; tools: ManagedToolsPort } {
  const none = (name: string) =>
    Promise.reject(
      new KaiwuError('mcp_server_not_found', `There is no MCP server ${JSON.stringify(name.slice(0, 80))}.`),
    );
  const cannotAdd = () =>
    Promise.reject(new KaiwuError('unsupported', 'This backend runs no managed MCP servers.'));
  return {
    servers: {
      list: async () => [],
      get: none,
      add: cannotAdd,
      update: none,
      remove: none,
      test: none,
      beginSignIn: none,
      completeSignIn: cannotAdd,
    },
    tools: {
      list: async ({ server }) => (server === undefined ? [] : none(server)),
      search: async () => [],
      accept: none,
      call: ({ key }) => none(key),
    },
  };
}
