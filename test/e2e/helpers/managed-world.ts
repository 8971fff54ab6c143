import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { makeFolder } from '../../helpers/kaiwu.ts';
import { type HomeServer, homeServer } from './home-server.ts';
import { type Inside, openInside } from './inside.ts';

/** A world whose machine has MCP servers of its own: `home`, which notes what reaches it, and whatever a test adds. */
export interface ManagedWorld extends Inside {
  home: HomeServer;
  /** Writes the file of the servers anew, `home` with these settings. */
  write(settings: object): void;
  /** Waits until the backend lists a tool in a state. */
  untilTool(server: string, name: string, state: string): Promise<Record<string, unknown>>;
  /** A path in a folder of the test's own. */
  path(name: string): string;
  stop(): Promise<void>;
}

export async function openManaged(
  options: { settings?: object; others?: (path: (name: string) => string) => Record<string, object> } = {},
): Promise<ManagedWorld> {
  const folder = await makeFolder('kaiwu-managed-');
  const path = (name: string) => join(folder, name);
  mkdirSync(path('files'));
  const file = path('files/mcp-servers.json');
  const home = homeServer(path('home.log'), { TOOLS: path('tools.json') });
  const others = options.others?.(path);
  const write = (settings: object) =>
    writeFileSync(file, JSON.stringify({ mcpServers: { home: { ...home.config, ...settings }, ...others } }));
  write(options.settings ?? {});
  const inside = await openInside({ KAIWU_MCP_SERVERS: file });
  const { api, world } = inside;

  function isIn(server: string, name: string, state: string): Promise<Record<string, unknown>> {
    return vi.waitFor(
      async () => {
        const { tools } = await api.output('mcp.tool.list');
        const found = (tools as Record<string, unknown>[]).find(
          (tool) => tool['server'] === server && tool['name'] === name,
        );
        if (found?.['state'] === state) return found;
        throw new Error(`${server} ${name} is ${String(found?.['state'])}, not ${state}`);
      },
      { timeout: 30_000, interval: 100 },
    );
  }
  return {
    ...inside,
    home,
    write,
    path,
    untilTool: isIn,
    async stop() {
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
