import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeFolder } from '../../helpers/kaiwu.ts';
import { type HomeServer, homeServer } from './home-server.ts';
import { type Inside, openInside } from './inside.ts';

/** A world whose machine has MCP servers of its own: `home`, which notes what reaches it, and whatever a test adds. */
export interface ManagedWorld extends Inside {
  home: HomeServer;
  /** Writes the file of the servers anew. `home` is in it with these settings. */
  write(settings: object, others?: Record<string, object>): void;
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
  const write = (settings: object, others: Record<string, object> = {}) =>
    writeFileSync(file, JSON.stringify({ mcpServers: { home: { ...home.config, ...settings }, ...others } }));
  write(options.settings ?? {}, options.others?.(path));
  const inside = await openInside({ KAIWU_MCP_SERVERS: file });
  const { api, world } = inside;

  async function isIn(server: string, name: string, state: string): Promise<Record<string, unknown>> {
    let found: Record<string, unknown> | undefined;
    await expect
      .poll(
        async () => {
          const { tools } = await api.output('mcp.tool.list');
          found = tools.find(
            (tool: Record<string, unknown>) => tool['server'] === server && tool['name'] === name,
          );
          return found?.['state'];
        },
        { timeout: 30_000, interval: 100 },
      )
      .toBe(state);
    return found!;
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
