import type { Caller } from '../call.ts';
import type { Page, PageRequest } from '../page.ts';
import type { ExecutionRun, RunIntent, RunStatus, RunTurn, WantedTarget } from '../run.ts';
import type { PermissionMode, SessionEvent } from '../session.ts';

export interface RunRequest {
  sessionId: string;
  intent: RunIntent;
  /** One run each; none: one run by the session's own agent. */
  backendTargets: WantedTarget[];
  instructions: string;
  modelId?: string;
  /** Default: `read_only` for review, plan and voice_agent, the parent's mode for delegate. */
  permissionMode?: PermissionMode;
  /** A git worktree for the run; `delegate` only. */
  worktree?: boolean;
  /** Counted from the start of the work, not from the place in the queue. */
  timeoutSeconds: number;
}

/** Names a run; with `sessionId` only one that belongs to that session or to one below it is found. */
export interface RunRef {
  runId: string;
  sessionId?: string;
}

/** Execution runs. Source: the backend's store, and the sessions that carry them out. */
export interface RunsPort {
  /**
   * Stores one run a target as `queued` and starts each when its session has a place free. All is checked before anything
   * is stored. A target that cannot be had (agent not available, mode not offered) is a run that has `failed`; what goes
   * wrong later is the run's own state as well.
   * @throws session_not_found | session_archived | permission_escalation_denied | invalid_input
   */
  start(request: RunRequest, caller: Caller): Promise<ExecutionRun[]>;
  /** Newest first. */
  list(
    filter: { sessionId?: string; status?: RunStatus; intent?: RunIntent },
    page: PageRequest,
  ): Promise<Page<ExecutionRun>>;
  /** @throws not_found */
  get(ref: RunRef): Promise<ExecutionRun>;
  /**
   * A further message to a run's agent. A run that is over is queued again and goes on in its session with it.
   * @throws not_found | session_archived (its own session, or the one that it belongs to)
   */
  send(ref: RunRef, text: string, caller: Caller): Promise<{ run: ExecutionRun; turn: RunTurn }>;
  /** Waits for the end of one turn. Answers how things stand when `seconds` are over. @throws not_found | canceled */
  turn(
    ref: RunRef,
    messageId: string,
    seconds: number,
    signal: AbortSignal,
  ): Promise<{ run: ExecutionRun; turn: RunTurn }>;
  /** Idempotent. @throws not_found */
  stop(ref: RunRef, caller: Caller): Promise<ExecutionRun>;
  /**
   * Waits for its end; of a `voice_agent`, which has none of its own, for the end of its turn. Answers the run as it is
   * when `seconds` are over. @throws not_found | canceled
   */
  wait(ref: RunRef, seconds: number, signal: AbortSignal): Promise<{ run: ExecutionRun; settled: boolean }>;
  /** Events of the run's own session with `seq > after`; waits up to `seconds` for the first. @throws not_found | canceled */
  read(
    ref: RunRef,
    range: { after: number; limit: number; seconds: number },
    signal: AbortSignal,
  ): Promise<{ run: ExecutionRun; events: SessionEvent[]; lastSeq: number }>;
}
