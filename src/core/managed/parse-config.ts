import type { ServerConfig } from './config.ts';

/** A configuration text, read. */
export interface ParsedServers {
  /** In the order of the text, with unique names. Holds secrets. */
  servers: (ServerConfig & { name: string })[];
  /** What was skipped or is odd, one sentence each; the servers above are fine all the same. */
  warnings: string[];
  /** Entries that are wrong and not among the servers, each named by its number and what is wrong with it. */
  errors: string[];
}

/**
 * Reads servers from a list of them, one alone, or a map as the hosts' own files have it (`mcpServers`, `servers`, `mcp`). Comments
 * and a byte-order mark are taken; entries may be JSON text of objects; `enabled: false` beside the map means none.
 * @param taken names that are in use already
 * @throws invalid_input where the text is no such JSON, with line and column; payload_too_large over 4 MiB
 */
export declare function parseServers(text: string, taken?: Iterable<string>): ParsedServers;
