import { join } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { KaiwuError } from '../../core/errors.ts';
import { readJsonc } from '../../core/managed/read-jsonc.ts';
import { toCodexEntry } from './codex.ts';
import type { HostName } from './host-names.ts';

/** Where the files of hosts lie on this machine. */
export interface Places {
  /** Home of the person. */
  home: string;
  /** Folder whose project files are looked at, absolute. */
  project: string;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
}

export type Fields = Record<string, unknown>;

/** Servers of a file by name, as the host writes them. */
export interface Found {
  scope: 'user' | 'project';
  servers: Fields;
}

export interface Host {
  /** Its files, those of the project first: their servers win. */
  files(places: Places): { path: string; scope: Found['scope'] }[];
  /** The value that a file holds. @throws invalid_input with line and column */
  read(text: string): unknown;
  /** Where its servers lie in the value, each key inside the one before it. */
  within(places: Places): { path: string[]; scope?: Found['scope'] }[];
  /** An entry in the words that `parseServers` knows. Default: as it is. */
  toEntry?(entry: Fields): Fields;
  /** How a value of its files refers to a variable or an answer. Default: `${NAME}`. */
  references?: RegExp;
}

/** Folder of a desktop program's settings. */
function settingsOf({ home, platform, env }: Places): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support');
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData/Roaming');
  return configOf({ home, env });
}

const configOf = ({ home, env }: Pick<Places, 'home' | 'env'>): string =>
  env.XDG_CONFIG_HOME || join(home, '.config');

const files = (project: string[], user: string[]) => [
  ...project.map((path) => ({ path, scope: 'project' as const })),
  ...user.map((path) => ({ path, scope: 'user' as const })),
];

const at = (...path: string[]) => ({ path });
/** `.cursor/mcp.json` and the like: the same path in the project and at home. */
const both =
  (path: string): Host['files'] =>
  ({ home, project }) =>
    files([join(project, path)], [join(home, path)]);

/** Each host's own files. */
export const HOSTS: Record<HostName, Host> = {
  claude: {
    files: (places) =>
      files(
        [join(places.project, '.mcp.json')],
        [
          join(places.env.CLAUDE_CONFIG_DIR || places.home, '.claude.json'),
          join(settingsOf(places), 'Claude/claude_desktop_config.json'),
        ],
      ),
    read: readJsonc,
    within: ({ project }) => [
      { path: ['projects', project, 'mcpServers'], scope: 'project' },
      at('mcpServers'),
    ],
  },
  cursor: { files: both('.cursor/mcp.json'), read: readJsonc, within: () => [at('mcpServers')] },
  vscode: {
    files: (places) => {
      const user = join(settingsOf(places), 'Code/User');
      const project = join(places.project, '.vscode');
      return files(
        [join(project, 'mcp.json'), join(project, 'settings.json')],
        [join(user, 'mcp.json'), join(user, 'settings.json')],
      );
    },
    read: readJsonc,
    within: () => [at('servers'), at('mcp', 'servers')],
  },
  codex: {
    files: ({ home, project, env }) =>
      files(
        [join(project, '.codex/config.toml')],
        [join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')],
      ),
    read: readToml,
    within: () => [at('mcp_servers')],
    toEntry: toCodexEntry,
  },
  gemini: {
    files: both('.gemini/settings.json'),
    read: readJsonc,
    within: () => [at('mcpServers')],
    references: /\$\{([^}]*)\}|\$([A-Za-z_]\w*)/g,
  },
  opencode: {
    files: ({ home, project, env }) => {
      const user = join(configOf({ home, env }), 'opencode');
      const names = ['opencode.json', 'opencode.jsonc'];
      return files(
        names.map((name) => join(project, name)),
        names.map((name) => join(user, name)),
      );
    },
    read: readJsonc,
    within: () => [at('mcp')],
    references: /\{((?:env|file):[^}]*)\}/g,
  },
};

function readToml(text: string): unknown {
  try {
    return parseToml(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // The parser's own message quotes the file, where secrets lie.
    const { line, column } = cause;
    throw new KaiwuError('invalid_input', `It is no TOML from line ${line}, column ${column} on.`, {
      cause,
      details: { line, column },
    });
  }
}
