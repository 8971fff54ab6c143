/** Session statuses. `waiting` is for a permission. */
export const SESSION_STATUSES = ['starting', 'idle', 'running', 'waiting', 'stopped', 'failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const PERMISSION_MODES = ['default', 'plan', 'read_only', 'accept_edits', 'bypass'] as const;
/** Ours, mapped to each agent's own modes. A mode that an agent lacks is refused by name. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** One line for people about each mode. */
export const PERMISSION_MODE_MEANINGS: Record<PermissionMode, string> = {
  default: 'Asks before it changes anything',
  plan: 'Plans and changes nothing',
  read_only: 'Reads only; everything else is refused',
  accept_edits: 'Edits files unasked, asks for the rest',
  bypass: 'Never asks',
};

export const MESSAGE_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** True once a message's turn has ended. */
export const isFinal = (status: MessageStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'canceled';

/** Why something ended badly, as stored with a session or a message. */
export interface FailureReason {
  code: string;
  message: string;
  /** The next step, one sentence. */
  hint?: string;
}

/** A setting of its own that an agent offers beside mode and model, such as how long it thinks. */
export interface ConfigOption {
  configId: string;
  name: string;
  description?: string;
  /** `select`: one of `options`; `boolean`: on or off. */
  kind: 'select' | 'boolean';
  value: string | boolean;
  options: AgentOption[];
}

/** What a turn used, as far as the agent says. Tokens; the cost is of the whole session so far. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  /** Of the model's context window, after the turn. */
  contextUsed?: number;
  contextSize?: number;
  cost?: { amount: number; currency: string };
}

/** A git worktree that was made for a session. */
export interface Worktree {
  path: string;
  branch: string;
  /** The repository that it belongs to. */
  repository: string;
}

/** Sessions deeper below a root than this are refused: an agent that starts agents must come to an end. */
export const MAX_SESSION_DEPTH = 6;

/** Sessions of one root that may be at work, itself among them, for an agent to start one more: each has a process. */
export const MAX_TREE_AT_WORK = 32;

/** A session as every surface sees it. Times are RFC 3339. */
export interface Session {
  sessionId: string;
  title?: string;
  /** `user` titles are never replaced by the agent's own. */
  titleSource?: 'user' | 'agent';
  status: SessionStatus;
  agentId: string;
  machineId: string;
  /** Where the agent works; the worktree, where one was made. */
  directory: string;
  additionalDirectories?: string[];
  permissionMode: PermissionMode;
  modelId?: string;
  configOptions?: ConfigOption[];
  tags: string[];
  /** Names of the variables that the session was given; their values are on its machine alone. */
  environmentNames?: string[];
  /** Names of the managed MCP servers whose tools it may use. Absent: all that the servers' own settings allow. */
  mcpServers?: string[];
  worktree?: Worktree;
  /** Session whose agent started this one, or whose run it is. */
  parentSessionId?: string;
  /** Steps below its root; 0 for a root. */
  depth: number;
  /** Execution run that this session carries out. */
  runId?: string;
  forkedFrom?: { sessionId: string; seq: number };
  /** As the last turn left it. */
  usage?: Usage;
  createdAt: string;
  updatedAt: string;
  archivedAt?: string;
  /** Last event of the transcript that the backend holds; 0 before the first. */
  lastSeq: number;
  /** Why it failed or stopped. */
  reason?: FailureReason;
  /** Set while the session's machine is not linked to the backend. */
  machineOfflineSince?: string;
  /** Set while a turn runs of which nothing new was heard for long. */
  stalledSince?: string;
  /** Open permission request, while `waiting`. */
  permission?: PermissionRequest;
  /** Open question of the agent, while `waiting`. */
  question?: Question;
}

export interface PermissionOption {
  optionId: string;
  name: string;
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

export interface PermissionRequest {
  requestId: string;
  title: string;
  options: PermissionOption[];
  /** ACP's kind of the tool call: read, edit, execute ... */
  kind?: string;
  /** Tool call of the transcript that it is about. */
  toolCallId?: string;
  /** When it was asked, RFC 3339. */
  askedAt?: string;
  /** The daemon's digest of what the call would do: an answer is for that alone. */
  subject?: string;
}

/** One field of a question's form. */
export interface QuestionField {
  name: string;
  title?: string;
  description?: string;
  /** `choice`: one of `options`; `choices`: any of them. */
  type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  required: boolean;
  options?: AgentOption[];
}

/** What an agent wants to know before it goes on. */
export interface Question {
  requestId: string;
  message: string;
  /** None: it only wants a yes or a no. */
  fields: QuestionField[];
  askedAt?: string;
}

export const QUESTION_ANSWERS = ['accept', 'decline', 'cancel'] as const;
/** `accept` carries the fields' values; `decline` says no; `cancel` leaves it open what the person wants. */
export type QuestionAnswer = (typeof QUESTION_ANSWERS)[number];

export const DELIVERIES = ['queue', 'steer', 'interrupt'] as const;
/**
 * What a message does to a turn that runs: waits for its end, reaches the agent inside it (where the agent can), or ends it
 * and goes first.
 */
export type Delivery = (typeof DELIVERIES)[number];

/** A message to a session. Stored before it is delivered. */
export interface Message {
  messageId: string;
  sessionId: string;
  text: string;
  status: MessageStatus;
  createdAt: string;
  /** Final text of the turn, once it has ended. */
  reply?: string;
  reason?: FailureReason;
}

/**
 * What a transcript holds. The daemon numbers events per session from 1 without gaps; the backend's session and
 * message rows are a projection of them, so both can be rebuilt and neither can run ahead of the other.
 */
export type SessionEventBody =
  | {
      type: 'session_started';
      acpSessionId: string;
      permissionMode: PermissionMode;
      modelId?: string;
      /** Models that this session offers, as the agent reported them. */
      models: AgentOption[];
      configOptions?: ConfigOption[];
      /** Where the agent works: an absolute path. Absent from older daemons where it is as asked for. */
      directory?: string;
      worktree?: Worktree;
      /** How the conversation so far reached the agent. `replayed`: as text in front of the next message. */
      resumed: 'new' | 'loaded' | 'replayed' | 'without_history' | 'forked';
      /** Message whose turn it goes on with: that one waited for a person while the daemon was restarted. */
      continues?: string;
    }
  | {
      type: 'user_message';
      messageId: string;
      text: string;
      /** Mode and model of this one turn, where the message asked for others. */
      permissionMode?: PermissionMode;
      modelId?: string;
      /** It reached the agent inside the turn of this other message. */
      steered?: string;
    }
  | { type: 'agent_text'; messageId: string; block: number; text: string }
  | { type: 'agent_thought'; messageId: string; block: number; text: string }
  | {
      type: 'tool_call';
      messageId: string;
      toolCallId: string;
      title?: string;
      kind?: string;
      status?: string;
      content?: unknown;
    }
  | { type: 'plan'; messageId: string; entries: unknown }
  | {
      type: 'agent_attachment';
      messageId: string;
      /** `image`, `audio`, `file` (kept on the machine) or `link` (a resource that the agent names). */
      kind: 'image' | 'audio' | 'file' | 'link';
      name?: string;
      mimeType?: string;
      bytes?: number;
      sha256?: string;
      /** On the session's machine. */
      path?: string;
      uri?: string;
    }
  | { type: 'permission_requested'; messageId: string; request: PermissionRequest }
  | {
      type: 'permission_resolved';
      messageId: string;
      requestId: string;
      optionId?: string;
      outcome: 'allowed' | 'refused' | 'canceled';
      by: string;
    }
  | { type: 'question_asked'; messageId: string; request: Question }
  | { type: 'question_answered'; messageId: string; requestId: string; answer: QuestionAnswer; by: string }
  /** Nothing new was heard of the turn since then; `null`: it goes on. */
  | { type: 'stalled'; messageId: string; since: string | null }
  | {
      type: 'turn_ended';
      messageId: string;
      outcome: 'completed' | 'failed' | 'canceled';
      stopReason?: string;
      reason?: FailureReason;
      usage?: Usage;
      /** It ended with the turn of this other message, inside which it reached the agent; the reply is that turn's. */
      steered?: string;
    }
  | { type: 'message_canceled'; messageId: string; reason: FailureReason }
  | { type: 'title_suggested'; title: string }
  | { type: 'mode_changed'; permissionMode: PermissionMode }
  /** `models`: what the session offers from now on, where that is another list. */
  | { type: 'model_changed'; modelId: string; models?: AgentOption[] }
  | { type: 'config_options_changed'; configOptions: ConfigOption[] }
  | { type: 'session_stopped'; reason?: FailureReason }
  | { type: 'session_failed'; reason: FailureReason }
  | { type: 'notice'; text: string; data?: unknown };

export type SessionEvent = SessionEventBody & {
  seq: number;
  /** When the daemon recorded it, RFC 3339. */
  at: string;
};

/** A model or a mode that an agent offers. */
export interface AgentOption {
  id: string;
  name: string;
}
