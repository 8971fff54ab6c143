import type { Caller } from '../../core/call.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { ExecutionRun, RunIntent, RunStatus } from '../../core/run.ts';
import type { FailureReason } from '../../core/session.ts';

/** A run with what only the backend needs of it. */
export interface StoredRun extends ExecutionRun {
  /** Who asked for it: its session is started with no more rights than theirs. */
  requester: Caller;
  /** It is over, and its session has still to be stopped. */
  stopDue: boolean;
  /** Its last message whose turn is over and is in the outcome; 0 before the first. */
  answered: number;
}

/** `prompt`: the intent's own. `said`: somebody's further message. `repeat`: asks for the result in its shape. */
export type RunMessageKind = 'prompt' | 'said' | 'repeat';

/** What a run's agent is to be told. It is sent under this id once the run's session is there. */
export interface RunMessage {
  runId: string;
  /** From 1 without gaps. */
  ordinal: number;
  messageId: string;
  kind: RunMessageKind;
  text: string;
}

export type NewRun = Pick<
  StoredRun,
  | 'runId'
  | 'sessionId'
  | 'intent'
  | 'backendTarget'
  | 'instructions'
  | 'modelId'
  | 'permissionMode'
  | 'worktree'
  | 'promptVersion'
  | 'timeoutSeconds'
  | 'requester'
>;

/** What comes of a run, or of its newest turn. */
export type RunOutcome = Partial<Pick<ExecutionRun, 'result' | 'rawText' | 'resultProblem' | 'reason'>>;

/** Keeps execution runs. Each move is a compare-and-set, so a run that two ends want to end ends once. */
export interface RunStore {
  /** Stores it at the end of its session's queue with its prompt; with `failed` as over already. */
  insert(run: NewRun, prompt: string, failed?: FailureReason): Promise<StoredRun>;
  get(runId: string): Promise<StoredRun | undefined>;
  /** Newest first. */
  list(
    filter: { sessionId?: string; status?: RunStatus; intent?: RunIntent },
    page: PageRequest,
  ): Promise<Page<StoredRun>>;
  /** Runs of a session that are queued or running. */
  countOpen(sessionId: string): Promise<number>;
  /** Runs that are queued or running, or whose session has still to be stopped, in the order of their places. */
  unfinished(): Promise<StoredRun[]>;
  /** Moves the first queued run of a session to `running`, unless `max` are running; answers it. */
  startNext(sessionId: string, max: number): Promise<StoredRun | undefined>;
  /**
   * Ends a run that is in one of `from`, and marks its session as one to stop.
   * @param lastOrdinal where given, the run ends only if this is still its last message
   * @returns the run as it is then; undefined when it was not in `from`, or more was said
   */
  end(
    runId: string,
    from: ('queued' | 'running')[],
    to: Exclude<RunStatus, 'queued' | 'running'>,
    outcome: RunOutcome,
    lastOrdinal?: number,
  ): Promise<StoredRun | undefined>;
  /**
   * A run that goes on has answered a message. Nothing if it does not run.
   * @param outcome what it has come to with that; undefined leaves it as it is
   */
  setAnswered(runId: string, ordinal: number, outcome: RunOutcome | undefined): Promise<void>;
  /** Its session is there. */
  setSession(runId: string, runSessionId: string): Promise<void>;
  /** Its session is stopped. */
  setStopped(runId: string): Promise<void>;
  /** Session that carries a run out, from the moment that it is stored. */
  sessionOf(runId: string): Promise<string | undefined>;
  /**
   * Adds a message. A run that is over is queued again at the end of its session's queue, its outcome forgotten.
   * @param after where given, only if this is still its last message and the run is not over
   * @returns undefined when it is not
   */
  addMessage(
    runId: string,
    kind: RunMessageKind,
    text: string,
    after?: number,
  ): Promise<RunMessage | undefined>;
  /** In order. */
  messages(runId: string): Promise<RunMessage[]>;
  /** Number of its last message. */
  lastOrdinal(runId: string): Promise<number>;
}
