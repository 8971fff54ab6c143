import type { Caller } from '../call.ts';
import type { Page, PageRequest } from '../page.ts';
import type {
  Delivery,
  Message,
  PermissionMode,
  QuestionAnswer,
  Session,
  SessionEvent,
  SessionStatus,
} from '../session.ts';

export interface SessionFilter {
  status?: SessionStatus;
  machineId?: string;
  agentId?: string;
  /** Text in title or directory, any case. */
  query?: string;
  tag?: string;
  /** Only sessions that this one started, at any depth. */
  below?: string;
  /** Only sessions that this one itself started. */
  parentSessionId?: string;
  /** Default: only sessions that are not archived. */
  archived?: 'exclude' | 'include' | 'only';
}

/** What is known of sessions. Source: the backend's store. */
export interface SessionsPort {
  /** Newest first. */
  list(filter: SessionFilter, page: PageRequest): Promise<Page<Session>>;
  /** @throws session_not_found */
  get(sessionId: string): Promise<Session>;
  /** Up to `limit` sessions whose id starts with `prefix`, with or without `sess_`. An exact id comes alone. */
  findByPrefix(prefix: string, limit: number): Promise<Session[]>;
  /** Sets the user's title. @throws session_not_found */
  setTitle(sessionId: string, title: string): Promise<Session>;
  /** From the root down to the session itself. @throws session_not_found */
  lineage(sessionId: string): Promise<Session[]>;
  /** Whether a session is `rootId` or was started from it, at any depth. */
  isWithin(sessionId: string, rootId: string): Promise<boolean>;
  /** Idempotent. @throws session_not_found */
  setArchived(sessionId: string, archived: boolean): Promise<Session>;
}

export interface SpawnRequest {
  agentId: string;
  directory: string;
  machineId?: string;
  title?: string;
  permissionMode?: PermissionMode;
  modelId?: string;
  additionalDirectories?: string[];
  createDirectory?: boolean;
  worktree?: { branch?: string; base?: string };
  tags?: string[];
  /** Secret: goes to the machine and is stored nowhere else. */
  environment?: Record<string, string>;
  /** Managed servers whose tools it may use. Default: those of its parent. @throws permission_escalation_denied for others */
  mcpServers?: string[];
  /** Session that it is a child of. Default: the one that the caller's token is for. */
  parentSessionId?: string;
  /** Execution run that it carries out. */
  runId?: string;
}

/** Acts on the machine that a session lives on. */
export interface SessionControlPort {
  /**
   * Starts an agent and waits until it is ready (`START_LIMIT_MS` and what the daemon's answer takes).
   * @throws machine_offline | daemon_not_running | machine_not_found | agent_not_available | agent_failed |
   * session_directory_unavailable | unsupported
   */
  spawn(request: SpawnRequest, caller: Caller, signal: AbortSignal): Promise<Session>;
  /** Stops the running turn, not the session. Answers whether there was one. */
  interrupt(sessionId: string, caller: Caller): Promise<{ interrupted: boolean }>;
  /** Ends the agent's process and cancels queued messages. Idempotent. */
  stop(sessionId: string, caller: Caller): Promise<Session>;
  /** @throws invalid_input when the agent does not offer the model */
  setModel(sessionId: string, modelId: string, caller: Caller): Promise<Session>;
  /** @throws unsupported when the agent has no such mode */
  setPermissionMode(sessionId: string, mode: PermissionMode, caller: Caller): Promise<Session>;
  /** Answers an open permission request with one of its options, or refuses it. */
  answerPermission(
    sessionId: string,
    answer: { requestId?: string; optionId?: string; decision?: 'allow' | 'allow_always' | 'deny' },
    caller: Caller,
  ): Promise<Session>;
  /** Answers an agent's open question. @throws conflict when none is open | invalid_input naming the field */
  answerQuestion(
    sessionId: string,
    answer: { requestId?: string; answer: QuestionAnswer; content?: Record<string, unknown> },
    caller: Caller,
  ): Promise<Session>;
  /** @throws invalid_input when the agent offers no such option or value */
  setConfigOption(
    sessionId: string,
    configId: string,
    value: string | boolean,
    caller: Caller,
  ): Promise<Session>;
  /** A new session that goes on with the same conversation. @throws unsupported when the agent cannot */
  fork(sessionId: string, options: { title?: string }, caller: Caller, signal: AbortSignal): Promise<Session>;
  /** Archives: ends the agent, removes a clean worktree. A machine that is away is told later. Idempotent. */
  archive(
    sessionId: string,
    caller: Caller,
  ): Promise<{ session: Session; worktree: 'none' | 'removed' | 'kept' | 'later'; reason?: string }>;
}

export interface SendRequest {
  sessionId: string;
  text: string;
  /** Caller's own id: the same id twice is one message. */
  messageId?: string;
  permissionModeOverride?: PermissionMode;
  modelOverride?: string;
  /** Default `queue`. */
  delivery?: Delivery;
}

export interface MessagesPort {
  /**
   * Stores the message, then delivers it. Queues behind a running turn and while the machine is offline.
   * @throws session_not_found | session_archived | conflict (the id was used for another text) | unsupported (steer)
   */
  send(request: SendRequest, caller: Caller): Promise<Message>;
  /**
   * Waits for the message's own turn to end, or until its session waits for a person: then `asking` is that session. Answers the
   * message as it is when `seconds` are over. One that interrupts is held up by nothing that was asked before its own turn.
   */
  wait(
    message: { messageId: string; sessionId: string; delivery?: Delivery },
    seconds: number,
    signal: AbortSignal,
  ): Promise<{ message: Message; asking?: Session }>;
  /** Waits until nothing runs and nothing is queued. Answers the session as it is when `seconds` are over. */
  waitIdle(
    sessionId: string,
    seconds: number,
    signal: AbortSignal,
  ): Promise<{ session: Session; idle: boolean }>;
}

export interface TranscriptMatch {
  sessionId: string;
  seq: number;
  at: string;
  type: string;
  /** Text around the match, at most 200 characters. */
  excerpt: string;
}

export interface TranscriptsPort {
  /** Events with `seq > after` oldest first, or without `after` the newest page; always in rising `seq`. */
  page(
    sessionId: string,
    range: { after?: number; before?: number; limit: number; types?: string[] },
  ): Promise<{ events: SessionEvent[]; lastSeq: number }>;
  /** Finds text in one transcript or in all, newest first. */
  search(query: string, filter: { sessionId?: string }, page: PageRequest): Promise<Page<TranscriptMatch>>;
}
