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
}

/** A session as every surface sees it. Times are RFC 3339. */
export interface Session {
  sessionId: string;
  title?: string;
  /** `user` titles are never replaced by the agent's own. */
  titleSource?: 'user' | 'agent';
  status: SessionStatus;
  agentId: string;
  machineId: string;
  directory: string;
  permissionMode: PermissionMode;
  modelId?: string;
  createdAt: string;
  updatedAt: string;
  archivedAt?: string;
  /** Last event of the transcript that the backend holds; 0 before the first. */
  lastSeq: number;
  /** Why it failed or stopped. */
  reason?: FailureReason;
  /** Set while the session's machine is not linked to the backend. */
  machineOfflineSince?: string;
  /** Open permission request, while `waiting`. */
  permission?: PermissionRequest;
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
}

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
      /** How the conversation so far reached the agent. */
      resumed: 'new' | 'loaded' | 'without_history';
    }
  | {
      type: 'user_message';
      messageId: string;
      text: string;
      /** Mode and model of this one turn, where the message asked for others. */
      permissionMode?: PermissionMode;
      modelId?: string;
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
  | { type: 'permission_requested'; messageId: string; request: PermissionRequest }
  | {
      type: 'permission_resolved';
      messageId: string;
      requestId: string;
      optionId?: string;
      outcome: 'allowed' | 'refused' | 'canceled';
      by: string;
    }
  | {
      type: 'turn_ended';
      messageId: string;
      outcome: 'completed' | 'failed' | 'canceled';
      stopReason?: string;
      reason?: FailureReason;
    }
  | { type: 'message_canceled'; messageId: string; reason: FailureReason }
  | { type: 'title_suggested'; title: string }
  | { type: 'mode_changed'; permissionMode: PermissionMode }
  | { type: 'model_changed'; modelId: string }
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

/** An agent on a machine, as its daemon found it. */
export interface AgentInfo {
  agentId: string;
  name: string;
  available: boolean;
  /** Why it is not available, one sentence. */
  reason?: string;
  /** Command that installs it. */
  install?: string;
  version?: string;
  permissionModes: PermissionMode[];
  /** Known without a session; sessions report their own. */
  models: AgentOption[];
}
