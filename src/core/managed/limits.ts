/** Bounds of what people write of a managed MCP server. */
export const SERVER_LIMITS = {
  /** Characters. */
  name: 64,
  url: 2048,
  value: 16_384,
  /** Entries. */
  args: 200,
  variables: 200,
  patterns: 500,
  /** Servers of one account. */
  servers: 100,
  /** Bytes of a configuration file. */
  fileBytes: 4 * 1024 * 1024,
} as const;

/** Name of a server that has none. */
export const UNNAMED = 'unnamed';

/** Seconds, where the configuration says nothing. */
export const SERVER_TIMEOUTS = { call: 600, connect: 10, list: 60, start: 30 } as const;
