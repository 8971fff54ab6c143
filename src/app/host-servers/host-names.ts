/** Hosts whose files hold MCP servers that can be taken over. Apart from how, so that the help of a command loads no parser. */
export const HOST_NAMES = ['claude', 'cursor', 'vscode', 'codex', 'gemini', 'opencode'] as const;
export type HostName = (typeof HOST_NAMES)[number];
