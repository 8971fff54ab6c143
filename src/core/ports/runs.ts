import type { Caller } from '../call.ts';
import type { Page, PageRequest } from '../page.ts';
import type { BackendTarget, ExecutionRun, RunIntent, RunStatus } from '../run.ts';
import type { Message, PermissionMode, SessionEvent } from '../session.ts';

export interface RunRequest {
  sessionId: string;
  intent: RunIntent;
  backendTarget: BackendTarget;
  instructions: string;
  modelId?: string;
  /** Default: `read_only` for review, plan and voice_agent, the parent's mode for delegate. */
  permissionMode?: PermissionMode;
  worktree?: boolean;
  timeoutSeconds?: number;
}

/** Execution runs. Source: the backend's store, and the sessions that carry them out. */
export interface RunsPort {
  /**
   * Stores it as `queued` and starts it when its session has a place free. What goes wrong later is the run's own state.
   * @throws session_not_found | session_archived | permission_escalation_denied | invalid_input
   */
  start(request: RunRequest, caller: Caller): Promise<ExecutionRun>;
  /** Newest first. */
  list(
    filter: { sessionId?: string; status?: RunStatus; intent?: RunIntent },
    page: PageRequest,
  ): Promise<Page<ExecutionRun>>;
  /** @throws not_found */
  get(runId: string): Promise<ExecutionRun>;
  /** A further message to a run's agent. A run that is over runs again with it. @throws not_found | conflict */
  send(runId: string, text: string, caller: Caller): Promise<{ run: ExecutionRun; message: Message }>;
  /** Idempotent. @throws not_found */
  stop(runId: string, caller: Caller): Promise<ExecutionRun>;
  /** Waits for its end. Answers the run as it is when `seconds` are over. */
  wait(runId: string, seconds: number, signal: AbortSignal): Promise<ExecutionRun>;
  /** Events of the run's own session with `seq > after`; waits up to `seconds` for the first. */
  read(
    runId: string,
    range: { after: number; limit: number; seconds: number },
    signal: AbortSignal,
  ): Promise<{ run: ExecutionRun; events: SessionEvent[]; lastSeq: number }>;
}
