import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from './app.ts';

/** How a host starts an MCP server. */
interface ServerEntry {
  command: string;
  args: string[];
  env: Record<string, string>;
}

interface Host {
  /** Where the host keeps it. */
  file: string;
  format(entry: ServerEntry): string;
}

const NAME = 'kaiwu';

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
const withEnv = ({ command, args, env }: ServerEntry) => ({
  command,
  args,
  ...(Object.keys(env).length === 0 ? {} : { env }),
});
const mcpServers = (entry: ServerEntry): string => json({ mcpServers: { [NAME]: withEnv(entry) } });

/** Each host's own file and shape. */
const HOSTS = {
  claude: { file: '~/.claude.json, .mcp.json or claude_desktop_config.json', format: mcpServers },
  cursor: { file: '~/.cursor/mcp.json', format: mcpServers },
  vscode: {
    file: '.vscode/mcp.json',
    format: (entry) => json({ servers: { [NAME]: { type: 'stdio', ...withEnv(entry) } } }),
  },
  zed: {
    file: '~/.config/zed/settings.json',
    format: (entry) => json({ context_servers: { [NAME]: withEnv(entry) } }),
  },
  codex: { file: '~/.codex/config.toml', format: toToml },
  gemini: { file: '~/.gemini/settings.json', format: mcpServers },
  opencode: {
    file: 'opencode.json',
    format: ({ command, args, env }) =>
      json({
        mcp: {
          [NAME]: {
            type: 'local',
            command: [command, ...args],
            enabled: true,
            ...(Object.keys(env).length === 0 ? {} : { environment: env }),
          },
        },
      }),
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof HOSTS;
export const HOST_NAMES = Object.keys(HOSTS) as HostName[];

/** The configuration to paste into a host. `flags` go before `mcp serve`. */
export function toHostConfig(
  app: App,
  host: HostName,
  flags: string[] = [],
): { file: string; config: string } {
  const [command, ...args] = hostCommand(app);
  // Hosts start servers with an environment of their own.
  const env: Record<string, string> = app.env.KAIWU_HOME ? { KAIWU_HOME: app.paths.home } : {};
  const { file, format } = HOSTS[host];
  return { file, config: format({ command, args: [...args, ...flags, 'mcp', 'serve'], env }) };
}

/**
 * The binary alone where its `#!/usr/bin/env node` finds this Node in the bare PATH that desktop hosts have, else Node's own
 * path before it: under a version manager the binary alone would not start there.
 */
function hostCommand({ binary }: App): [string, ...string[]] {
  const node = realpathSync(process.execPath);
  const found = ['/usr/local/bin', '/usr/bin', '/bin'].map((folder) => join(folder, 'node')).find(existsSync);
  return found !== undefined && realpathSync(found) === node ? [binary] : [process.execPath, binary];
}

function toToml({ command, args, env }: ServerEntry): string {
  // JSON strings are TOML basic strings.
  const pairs = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return [
    `[mcp_servers.${NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`,
    ...(pairs.length === 0 ? [] : [`env = { ${pairs.join(', ')} }`]),
  ].join('\n');
}
