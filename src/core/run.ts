import type { FailureReason, MessageStatus, PermissionMode } from './session.ts';

export const RUN_INTENTS = ['review', 'plan', 'delegate', 'voice_agent'] as const;
/** What a run is for; each has a prompt and a shape of its result of its own. */
export type RunIntent = (typeof RUN_INTENTS)[number];

export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TARGETS = ['builtInAgent', 'acpBackend'] as const;
/** Who carries a run out: an agent that comes with Kaiwu, or one that the person added. */
export interface BackendTarget {
  kind: (typeof RUN_TARGETS)[number];
  agentId: string;
}

/** A target as it is asked for: of which kind an agent is, the backend knows. */
export type WantedTarget = Pick<BackendTarget, 'agentId'> & Partial<BackendTarget>;

/** Runs of one session that work at once; the others wait in the order in which they came. */
export const MAX_RUNS_AT_ONCE = 4;

/** Runs of one session that work or wait; further ones are refused. */
export const MAX_OPEN_RUNS = 100;

export const isRunOver = (status: RunStatus): boolean => status !== 'queued' && status !== 'running';

/** A managed piece of work inside a session: an agent session of its own with an intent. Times are RFC 3339. */
export interface ExecutionRun {
  runId: string;
  /** The session that it belongs to. */
  sessionId: string;
  intent: RunIntent;
  backendTarget: BackendTarget;
  instructions: string;
  modelId?: string;
  permissionMode: PermissionMode;
  /** A git worktree was asked for. */
  worktree?: boolean;
  /** Which text of the intent's prompt it was given. */
  promptVersion: number;
  status: RunStatus;
  /** Its own session, once that exists. */
  runSessionId?: string;
  timeoutSeconds: number;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  /** Validated, in the intent's own shape; absent while it runs and where the agent strayed from the shape. */
  result?: Record<string, unknown>;
  /** The agent's own words, where they are not in the shape. */
  rawText?: string;
  /** Where the agent's words stray from the shape, one sentence; set together with `rawText`. */
  resultProblem?: string;
  reason?: FailureReason;
}

/** One message to a run's agent, and what came of it. */
export interface RunTurn {
  messageId: string;
  /** `queued` also while the run itself waits for its place. */
  status: MessageStatus;
  /** Final text of the turn; of a voice_agent in its short spoken form. */
  reply?: string;
  reason?: FailureReason;
}
