import type { CallContext } from '../../../src/core/call.ts';
import type { ManagedServer, ManagedTool } from '../../../src/core/ports/managed.ts';
import type { FakeDaemon } from './fake-daemon.ts';
import { createFakeServers, type FakeServers } from './fake-servers.ts';
import { openWorld, type World } from './world.ts';

/** A backend, a person, and a machine whose managed servers the test plays. */
export interface ManagedWorld extends World {
  /** Of a person's device. */
  token: string;
  servers: FakeServers;
  machine: FakeDaemon;
  /** Adds a server that the machine runs. */
  add(config?: Record<string, unknown>): Promise<ManagedServer>;
  server(name: string): Promise<ManagedServer>;
  tools(server?: string): Promise<ManagedTool[]>;
  /** Resolves once `check` holds of a server's tools; looks again whenever the feed tells of a server. */
  untilTools(server: string, check: (tools: ManagedTool[]) => boolean): Promise<ManagedTool[]>;
  accept(server: string, ...names: string[]): Promise<void>;
}

export async function openManagedWorld(): Promise<ManagedWorld> {
  const world = await openWorld();
  const { token } = await world.signIn();
  const servers = createFakeServers();
  const machine = await world.daemon(token, { servers });
  servers.attach(machine);
  const here: Partial<CallContext> = { machineId: 'mach_one' };
  const tools = async (server?: string) =>
    (await world.ok(token, 'mcp.tool.list', server === undefined ? {} : { server })).tools as ManagedTool[];
  return Object.assign(world, {
    token,
    servers,
    machine,
    add: async (config = {}) =>
      (await world.ok(
        token,
        'mcp.server.add',
        { name: 'files', command: 'files-server', ...config },
        here,
      )) as unknown as ManagedServer,
    server: async (name: string) =>
      (await world.ok(token, 'mcp.server.get', { name })) as unknown as ManagedServer,
    tools,
    async untilTools(server: string, check: (tools: ManagedTool[]) => boolean) {
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          const stop = world.store.feed.subscribe(({ type }) => {
            if (type !== 'mcp_server.changed' && type !== 'catalog.changed') return;
            stop();
            resolve();
          });
        });
        const now = await tools(server);
        if (check(now)) return now;
        await changed;
      }
    },
    async accept(server: string, ...names: string[]) {
      const wanted = (await tools(server)).filter(({ name }) => names.includes(name));
      await world.ok(token, 'mcp.tool.accept', {
        server,
        tools: wanted.map(({ name, digest }) => ({ name, digest })),
      });
    },
  });
}
