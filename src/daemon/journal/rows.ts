import type { AgentOption, FailureReason, PermissionMode, SessionStatus } from '../../core/session.ts';

/** A session as the daemon keeps it. */
export interface StoredSession {
  sessionId: string;
  agentId: string;
  directory: string;
  permissionMode: PermissionMode;
  modelId?: string;
  models: AgentOption[];
  status: SessionStatus;
  reason?: FailureReason;
  /** The agent's own id of the conversation; absent until it first started. */
  acpSessionId?: string;
  lastSeq: number;
  agentPid?: number;
  /** Opaque; tells the process from a later one with the same pid. */
  agentStartTime?: string;
}

export interface StoredMessage {
  messageId: string;
  sessionId: string;
  text: string;
  /** Of this one turn. */
  permissionMode?: PermissionMode;
  modelId?: string;
  state: 'queued' | 'running' | 'done';
}

type Row = Record<string, unknown>;

const optional = <T>(value: unknown): T | undefined => (value === null ? undefined : (value as T));

export const toSession = (row: Row): StoredSession => ({
  sessionId: String(row.session_id),
  agentId: String(row.agent_id),
  directory: String(row.directory),
  permissionMode: row.permission_mode as PermissionMode,
  modelId: optional(row.model_id),
  models: JSON.parse(String(row.models)) as AgentOption[],
  status: row.status as SessionStatus,
  reason: row.reason === null ? undefined : (JSON.parse(String(row.reason)) as FailureReason),
  acpSessionId: optional(row.acp_session_id),
  lastSeq: Number(row.last_seq),
  agentPid: optional(row.agent_pid),
  agentStartTime: optional(row.agent_start_time),
});

export const toMessage = (row: Row): StoredMessage => ({
  messageId: String(row.message_id),
  sessionId: String(row.session_id),
  text: String(row.text),
  permissionMode: optional(row.permission_mode),
  modelId: optional(row.model_id),
  state: row.state as StoredMessage['state'],
});
