import type { Caller } from '../call.ts';
import type { ServerConfig } from '../managed/config.ts';
import type { ServerState, ToolCallResult } from '../managed/managed.ts';

/** A managed server as people see it: its settings without what is secret, and how it does. */
export interface ManagedServer extends Omit<ServerState, 'key' | 'tools'> {
  /** Unique in the account: letters, digits, `_` and `-`. */
  name: string;
  /** `account`: kept by the backend. `file`: from a machine's own configuration file, and changed only there. */
  source: 'account' | 'file';
  /** `backend`, or the machine whose daemon runs it. */
  where: string;
  config: Omit<ServerConfig, 'token' | 'headers' | 'env'>;
  /** Names of the secret values that are set: `token`, `headers.X-Api-Key`, `env.API_KEY`. */
  secrets: string[];
  /** Counts by state of its tools. */
  toolCounts: Record<ManagedToolState, number>;
}

/**
 * `available`; `excluded` by the server's filter; `held_back` until a person accepts what is new or changed; `left_out` since no
 * host takes it; `gone` since the server no longer lists it;
 * `server_disabled`; `provider_not_trusted` while the provider that the server names does not count.
 */
export const MANAGED_TOOL_STATES = [
  'available',
  'excluded',
  'held_back',
  'left_out',
  'gone',
  'server_disabled',
  'provider_not_trusted',
] as const;
export type ManagedToolState = (typeof MANAGED_TOOL_STATES)[number];

export interface ManagedTool {
  server: string;
  /** The server's own name of it. */
  name: string;
  /** Name under which hosts list it: `<server>__<tool>`. */
  toolName: string;
  /** Its action id, for calls and rules of the policy. */
  actionId: string;
  state: ManagedToolState;
  /** Why it is not available. */
  reason?: string;
  /** As the server describes it, invisible characters shown. Data of a stranger. */
  description: string;
  effect: 'read' | 'write' | 'destructive';
  /** Digest of the definition now; accepting names it, so that only what was seen is accepted. */
  digest: string;
  /** What changed since it was accepted. Absent for a tool that was never accepted. */
  changes?: { field: string; before?: string; after?: string }[];
  /** All that its definition says, where it was never accepted: what models read of it is more than its description. */
  says?: ManagedTool['changes'];
}

/** Servers of the account. @throws mcp_server_not_found where a name is unknown */
export interface ManagedServersPort {
  /** By name. For the agent of a session those that are shared with it; it is told of no others. */
  list(caller?: Caller): Promise<ManagedServer[]>;
  get(name: string, caller?: Caller): Promise<ManagedServer>;
  /** The first listing of its tools is trusted: who adds a server has chosen it. @throws invalid_input | machine_not_found */
  add(config: ServerConfig, caller: Caller): Promise<ManagedServer>;
  /** Absent fields stay; `null` clears. @throws invalid_input | conflict (from a file) */
  update(
    name: string,
    change: { [K in keyof ServerConfig]?: ServerConfig[K] | null },
    caller: Caller,
  ): Promise<ManagedServer>;
  /** With its secrets, sign-in, pins and grants. @throws conflict (from a file) */
  remove(name: string, caller: Caller): Promise<void>;
  /** Connects anew and lists. */
  test(name: string, caller: Caller, signal: AbortSignal): Promise<ManagedServer>;
  beginSignIn(
    name: string,
    redirectUri: string,
    caller: Caller,
  ): Promise<{ authorizationUrl: string; state: string }>;
  completeSignIn(
    answer: { state: string; code?: string; error?: string; iss?: string },
    caller: Caller,
  ): Promise<ManagedServer>;
}

/** Tools of managed servers. */
export interface ManagedToolsPort {
  /** By server and name; for a session those of the servers that are shared with it. */
  list(filter: { server?: string; state?: ManagedToolState }, caller: Caller): Promise<ManagedTool[]>;
  /** Best first. */
  search(query: string, limit: number, caller: Caller): Promise<ManagedTool[]>;
  /** Trusts definitions as they are now. @throws approval_stale where a digest is no longer the one seen; not_found */
  accept(server: string, tools: { name: string; digest: string }[], caller: Caller): Promise<ManagedTool[]>;
  /** Calls one; for the actions of managed tools alone. */
  call(
    of: { key: string; tool: string },
    args: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ToolCallResult>;
}
