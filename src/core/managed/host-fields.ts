/** How a field of a host's own file is taken over: to which field of ours, and in which form. Undefined: it says nothing. */
interface HostField {
  to: string;
  /** Default: as it is. */
  as?: (value: unknown) => unknown;
}

const toOpposite = (value: unknown): unknown => (typeof value === 'boolean' ? !value : value);

/** Hosts count in milliseconds; a number that would then be less than a second is one of seconds. */
const toSeconds = (value: unknown): unknown =>
  typeof value === 'number' && value >= 1000 ? Math.ceil(value / 1000) : value;

/** Fields of the hosts' files that say the same as one of ours under another name. */
export const HOST_FIELDS: ReadonlyMap<string, HostField> = new Map(
  Object.entries({
    // Gemini CLI
    httpUrl: { to: 'url' },
    includeTools: { to: 'include_tools' },
    excludeTools: { to: 'exclude_tools' },
    timeout: { to: 'timeoutSeconds', as: toSeconds },
    // Windsurf
    serverUrl: { to: 'url' },
    // Cursor, Cline, Claude Desktop
    disabled: { to: 'enabled', as: toOpposite },
    // OpenCode, Kilo
    environment: { to: 'env' },
    // GitHub Copilot
    tools: { to: 'include_tools' },
    // Codex
    http_headers: { to: 'headers' },
    enabled_tools: { to: 'include_tools' },
    disabled_tools: { to: 'exclude_tools' },
    startup_timeout_sec: { to: 'startTimeoutSeconds' },
    tool_timeout_sec: { to: 'timeoutSeconds' },
    workingDirectory: { to: 'cwd' },
  } satisfies Record<string, HostField>),
);

/** Fields of the hosts' files that are about something else; passed over without a word. */
export const PASSED_OVER: ReadonlySet<string> = new Set([
  '$schema',
  'description',
  'dev',
  'gallery',
  'icon',
  'icons',
  'metadata',
  'version',
]);

/** Fields by which a host asks less; here the policy alone says what is asked. */
export const ASKING_FIELDS: ReadonlySet<string> = new Set(['trust', 'alwaysAllow', 'autoApprove']);

/** What the hosts call the ways to a server, and the field that each needs. */
export const TRANSPORTS: ReadonlyMap<string, 'url' | 'command'> = new Map([
  ['stdio', 'command'],
  ['local', 'command'],
  ['http', 'url'],
  ['sse', 'url'],
  ['remote', 'url'],
  ['streamable-http', 'url'],
  ['streamable_http', 'url'],
  ['streamableHttp', 'url'],
]);

/** Where the hosts' files hold their servers, each inside the one before it. */
export const PLACES: readonly (readonly string[])[] = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['tools', 'mcp', 'servers'],
  ['mcp'],
  ['mcp_servers'],
  ['context_servers'],
];
