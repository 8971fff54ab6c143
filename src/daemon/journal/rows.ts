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

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const fromJson = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : undefined);

export const toSession = (row: Row): StoredSession => ({
  sessionId: String(row.session_id),
  agentId: String(row.agent_id),
  directory: String(row.directory),
  permissionMode: row.permission_mode as PermissionMode,
  modelId: text(row.model_id),
  models: fromJson(row.models) as AgentOption[],
  status: row.status as SessionStatus,
  reason: fromJson(row.reason) as FailureReason | undefined,
  acpSessionId: text(row.acp_session_id),
  lastSeq: Number(row.last_seq),
  agentPid: typeof row.agent_pid === 'number' ? row.agent_pid : undefined,
  agentStartTime: text(row.agent_start_time),
});

export const toMessage = (row: Row): StoredMessage => ({
  messageId: String(row.message_id),
  sessionId: String(row.session_id),
  text: String(row.text),
  permissionMode: text(row.permission_mode) as PermissionMode | undefined,
  modelId: text(row.model_id),
  state: row.state as StoredMessage['state'],
});
