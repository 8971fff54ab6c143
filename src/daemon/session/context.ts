import type { BackendMethods, DaemonNotices } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Guardian } from '../../process/guardian.ts';
import type { McpServerConfig } from '../acp/open.ts';
import type { Environment } from '../../process/environment.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Journal } from '../journal/journal.ts';
import type { SessionLimits } from '../options.ts';

/** What all sessions of a daemon share. */
export interface SessionContext {
  journal: Journal;
  registry: AgentRegistry;
  guardian: Guardian;
  runtime: Runtime;
  log: Logger;
  limits: SessionLimits;
  version: string;
  /** What the daemon was started with; what it starts gets a part of it. */
  env: Environment;
  sessionLogs: string;
  /** Tells a process from a later one with the same number. */
  startTime(pid: number): string | undefined;
  mcpServers(session: {
    sessionId: string;
    agentId: string;
    directory: string;
    /** Managed servers whose tools it may use; absent: all that the servers allow. */
    servers?: string[];
  }): McpServerConfig[] | Promise<McpServerConfig[]>;
  /** Keeps two sessions from planning the same worktree. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** The agent of a session is gone, or did not come. */
  onSessionEnded(sessionId: string): void;
  /** The end of a conversation as the backend has it; undefined where the backend is away. */
  transcriptTail(
    sessionId: string,
    maxChars: number,
  ): Promise<BackendMethods['transcript.tail']['result'] | undefined>;
  /** Live text, lost where nobody can take it. */
  delta(delta: DaemonNotices['delta']): void;
  /** Whether a session has written far more than the backend has taken so far. */
  isAhead(sessionId: string): boolean;
  /** Whether the daemon is on its way out. */
  isEnding(): boolean;
}
