import type { Caller } from '../call.ts';
import type { AgentInfo } from '../agent.ts';
import type { AgentOption, PermissionMode } from '../session.ts';

export interface Machine {
  machineId: string;
  name: string;
  platform: string;
  online: boolean;
  /** RFC 3339; when its link was last alive. */
  lastSeenAt: string;
  daemonVersion: string;
  /** The caller runs on this machine. */
  current: boolean;
}

export interface RecentPath {
  path: string;
  machineId: string;
  lastUsedAt: string;
  sessions: number;
}

/** Machines with a daemon, and what is on them. */
export interface MachinesPort {
  /** Most recently seen first. */
  list(caller: Caller): Promise<Machine[]>;
  /** Directories that sessions used, most recent first. */
  recentPaths(filter: { machineId?: string; limit: number }): Promise<RecentPath[]>;
}

/** Agents of a machine: the one named, else the caller's, else the only one. */
export interface AgentsPort {
  /** @throws machine_not_found | machine_offline (never seen online) */
  backends(
    machineId: string | undefined,
    caller: Caller,
  ): Promise<{ machineId: string; agents: AgentInfo[] }>;
  /** Models of an agent, or of a session as its agent reported them. */
  models(
    of: { agentId?: string; sessionId?: string; machineId?: string },
    caller: Caller,
  ): Promise<{ models: AgentOption[]; currentModelId?: string }>;
  modes(
    of: { agentId?: string; sessionId?: string; machineId?: string },
    caller: Caller,
  ): Promise<{ modes: PermissionMode[]; currentMode?: PermissionMode }>;
}

export interface BackendServer {
  serverId: string;
  url: string;
  version: string;
  startedAt: string;
  database: 'sqlite' | 'postgres';
}

/** Backend nodes that serve this account. */
export interface ServersPort {
  list(): Promise<BackendServer[]>;
}
