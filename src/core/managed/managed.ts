import type { ServerConfig } from './config.ts';

/** Bounds of what a managed server may say. What goes over is cut, left out or refused, each with a reason. */
export const MANAGED_LIMITS = {
  /** Tools of one server. */
  tools: 1000,
  /** Pages of one listing. */
  pages: 200,
  /** Bytes of one tool's definition in JSON. */
  definition: 256 * 1024,
  /** Bytes of all definitions of one server. */
  definitions: 4 * 1024 * 1024,
  /** Bytes of one message, and of one result. */
  message: 16 * 1024 * 1024,
  result: 4 * 1024 * 1024,
  /** Bytes of its stderr that are kept. */
  stderr: 16 * 1024,
  /** Characters of a reason. */
  reason: 2000,
  /** Warnings kept. */
  warnings: 50,
} as const;

/** A tool as its server defined it, whole: what is hashed, compared and trusted. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export const SERVER_STATUSES = [
  'starting',
  'ready',
  'degraded',
  'sign_in_needed',
  'failed',
  'disabled',
] as const;
/**
 * `degraded`: connected, and something is wrong with it (calls fail, a listing came short); its tools stay callable.
 * `failed`: not connected; a further attempt follows by itself unless `nextTryAt` is absent.
 */
export type ServerStatus = (typeof SERVER_STATUSES)[number];

/** What a runtime knows of one server now. Holds no secret: addresses are cut to scheme and host. */
export interface ServerState {
  /** As in `RunnableServer`. */
  key: string;
  status: ServerStatus;
  /** Which part went wrong and how: address, sign-in, command, protocol or reply. */
  reason?: string;
  /** End of what its program wrote to stderr, known secrets hidden. */
  stderrTail?: string;
  /** Revision of the protocol that both speak. */
  protocolVersion?: string;
  /** Name and version as the server gives them. */
  serverInfo?: { name: string; version: string };
  transport?: 'stdio' | 'http' | 'sse';
  /** Of the last listing that succeeded, in this process or an earlier one; absent while there was none. */
  tools?: ToolDefinition[];
  /** What was left out or odd in the last listing, in plain words. */
  warnings: string[];
  /** Lines on its stdout that were no messages. */
  noiseLines: number;
  /** Starts of its program since it was applied. */
  starts: number;
  /** RFC 3339; since when it is in this status. */
  since: string;
  /** RFC 3339. */
  nextTryAt?: string;
}

/** A server with its secrets, ready to be run. */
export interface RunnableServer {
  /** Ours; stays the same for as long as the server is configured. */
  key: string;
  config: ServerConfig & { name: string };
  /** Tools of an earlier listing: offered until a fresh one is there. */
  cached?: ToolDefinition[];
}

/** A result of `tools/call` as the server gave it, at most `MANAGED_LIMITS.result` bytes of JSON. */
export interface ToolCallResult {
  content: Record<string, unknown>[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface ManagedCall {
  key: string;
  /** The server's own name of the tool. */
  tool: string;
  arguments: Record<string, unknown>;
  /** Told to the server where it asks who calls; a label. */
  client?: string;
}

/**
 * Runs managed servers: in the backend, and in each daemon for the servers of its machine. One connection a server, however
 * many call. Source: src/managed.
 */
export interface ManagedRuntime {
  /** Makes the servers that run exactly these. One that is the same as before goes on undisturbed. Never waits for one. */
  apply(servers: readonly RunnableServer[]): void;
  states(): ServerState[];
  /**
   * Calls a tool. Connects first where that is due. The server is told when `signal` aborts.
   * @throws mcp_server_not_found | mcp_server_unavailable | mcp_sign_in_needed | timeout | canceled | payload_too_large |
   * tool_failed (the protocol's own error; a result with `isError` is returned)
   */
  call(call: ManagedCall, signal: AbortSignal): Promise<ToolCallResult>;
  /** Connects anew at once and lists; waits for the outcome within the server's own limits. @throws mcp_server_not_found */
  test(key: string, signal: AbortSignal): Promise<ServerState>;
  /** Ends every connection and program; resolves when none is left. Idempotent, and may be repeated after a failure. */
  close(): Promise<void>;
}

/** OAuth tokens and registrations of servers, as the runtime needs them. Source: the backend's store, sealed. */
export interface OAuthVault {
  read(key: string): Promise<Record<string, unknown> | undefined>;
  write(key: string, record: Record<string, unknown> | undefined): Promise<void>;
}

/** Sign-in of a server over HTTP: authorization code with PKCE. Source: src/managed. */
export interface ManagedSignIn {
  /** @param redirectUri where the browser comes back to @returns where the person goes, and the state that comes back */
  begin(key: string, redirectUri: string): Promise<{ authorizationUrl: string; state: string }>;
  /** @throws access_denied | mcp_sign_in_needed | not_found (no such state, or it is over) */
  complete(answer: { state: string; code?: string; error?: string; iss?: string }): Promise<{ key: string }>;
  /** Forgets tokens and registration. */
  forget(key: string): Promise<void>;
}
