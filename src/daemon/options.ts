import type { Agent } from 'node:http';
import type { SqliteHandle, Logger, ProcessTable } from '../core/ports/host.ts';
import { LINK_DEAD_MS, LINK_PING_MS, START_LIMIT_MS } from '../core/link.ts';
import type { Runtime } from '../core/ports/stores.ts';
import { MAX_LINE_BYTES } from './acp/connection.ts';
import { END_GRACES, type EndGraces } from '../process/group.ts';
import type { McpServerConfig } from './acp/open.ts';
import { ATTACHMENT_LIMITS, type AttachmentLimits } from './session/attachments.ts';
import type { FileOptions } from './files/files.ts';
import type { ManagedOptions } from './managed/options.ts';
import type { AgentDefinition } from './agents/agents.ts';
import type { Environment } from '../process/environment.ts';

/** Limits of the daemon's sessions, milliseconds unless the name says otherwise. */
export interface SessionLimits {
  /** From an agent's start until it is ready. */
  startMs: number;
  /** From a change of mode, model or setting until the agent has answered it, outside a turn; then the agent is ended. */
  controlMs: number;
  /** From an interrupt until the turn has ended; then the agent is ended. */
  interruptMs: number;
  /** How long a permission request waits for a person before it is refused. */
  permissionMs: number;
  /** Without anything new from a turn until it counts as stalled. */
  stallMs: number;
  maxLineBytes: number;
  attachments: AttachmentLimits;
  graces: EndGraces;
}

export const SESSION_LIMITS: SessionLimits = {
  startMs: START_LIMIT_MS,
  controlMs: 20_000,
  interruptMs: 5000,
  permissionMs: 24 * 3600 * 1000,
  stallMs: 5 * 60 * 1000,
  maxLineBytes: MAX_LINE_BYTES,
  attachments: ATTACHMENT_LIMITS,
  graces: END_GRACES,
};

/** Timing of the machine link, milliseconds. */
export interface LinkLimits {
  pingMs: number;
  deadMs: number;
  /** Shortest and longest wait between two attempts; each is spread at random. */
  backoffMinMs: number;
  backoffMaxMs: number;
  /** Shortest wait while nobody is signed in. */
  signInMs: number;
  /** A link that lived this long begins again at the shortest wait. */
  stableMs: number;
}

export const LINK_LIMITS: LinkLimits = {
  pingMs: LINK_PING_MS,
  deadMs: LINK_DEAD_MS,
  backoffMinMs: 1000,
  backoffMaxMs: 30_000,
  signInMs: 30_000,
  stableMs: 20_000,
};

export interface DaemonOptions {
  /** Its own; only one process may have it open. */
  db: SqliteHandle;
  link: {
    /** Base address of the backend. Plain HTTP only to this machine. */
    url: string;
    /** Device token, asked for at each attempt so that a new sign-in counts. @throws why there is none */
    token(): string | undefined | Promise<string | undefined>;
    /** Of a proxy. */
    agent?: Agent;
    /** Certificate authority in place of the usual ones, PEM. */
    ca?: string;
    limits?: Partial<LinkLimits>;
  };
  machine: { machineId: string; name: string; platform: string };
  version: string;
  runtime: Runtime;
  /** 0 to 1; spreads the attempts to reconnect. */
  random(): number;
  log: Logger;
  processTable: ProcessTable;
  agents: {
    table: AgentDefinition[];
    /** Agents that the person added, read afresh at each call. @throws state_damaged */
    added?(): AgentDefinition[];
    /** What the daemon was started with; agents get a part of it. */
    env: Environment;
    /** MCP servers that a session is given, at each start of its agent. */
    mcpServers?(session: {
      sessionId: string;
      agentId: string;
      directory: string;
      /** Managed servers whose tools it may use; absent: all that the servers allow. */
      servers?: string[];
    }): McpServerConfig[] | Promise<McpServerConfig[]>;
    /** Called when the agent of a session is gone, or did not come. */
    onSessionEnded?(sessionId: string): void;
  };
  /** Without it no file can be sent. */
  files?: FileOptions;
  /** Without it no managed MCP servers are run here. */
  managed?: ManagedOptions;
  /** Folder of the sessions' logs and attachments. */
  sessionLogs: string;
  limits?: Partial<SessionLimits>;
  /** Called when the daemon cannot go on (another one serves this machine); it has stopped its link then. */
  onFatal(error: Error): void;
}
