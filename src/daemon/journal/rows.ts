import type { AgentFeature } from '../../core/agent.ts';
import type {
  AgentOption,
  ConfigOption,
  Delivery,
  FailureReason,
  PermissionMode,
  PermissionRequest,
  Question,
  SessionStatus,
  Worktree,
} from '../../core/session.ts';

/** A worktree as the daemon keeps it. */
export interface StoredWorktree extends Worktree {
  /** Commit that its branch started from. */
  base: string;
  /** Commit that its branch had when it was removed; it is on another branch, so it stays. */
  tip?: string;
  /** Where the session works: the worktree, or the same folder of it that was asked for in the repository. */
  directory: string;
  /** `planned`: noted before it is made, so that a start that breaks off can be cleaned up after. */
  state: 'planned' | 'made' | 'removed';
}

/** What a person said to a turn whose agent is gone, until the agent is told. */
export interface Continuation {
  messageId: string;
  requestId: string;
  /** Tells the same answer that comes again from another one; absent where nobody answered. */
  answered?: string;
  /** Tells the agent what it waited for and what came of it. */
  text: string;
  /** A permission that it may use once, for what was asked and nothing else. */
  grant?: {
    kind: string;
    title: string;
    subject?: string;
    optionKind: 'allow_once' | 'allow_always';
    by: string;
  };
}

/** A session as the daemon keeps it. */
export interface StoredSession {
  sessionId: string;
  agentId: string;
  /** As it was asked for. */
  directory: string;
  createDirectory: boolean;
  additionalDirectories: string[];
  /** Variables of the agent, values included. */
  environment: Record<string, string>;
  /** Managed servers whose tools it may use; absent: all that the servers allow. */
  mcpServers?: string[];
  worktreeRequest?: { branch: string; base?: string };
  worktree?: StoredWorktree;
  /** Session whose conversation it goes on with. */
  forkOf?: string;
  permissionMode: PermissionMode;
  modelId?: string;
  models: AgentOption[];
  configOptions: ConfigOption[];
  /** What its agent said that it can do, when it last started. */
  features: AgentFeature[];
  status: SessionStatus;
  reason?: FailureReason;
  /** Shown to people and not answered. */
  permission?: PermissionRequest;
  question?: Question;
  continuation?: Continuation;
  /** The conversation so far, for an agent that could not load it and has not been told yet. */
  replay?: string;
  /** The agent's own id of the conversation; absent until it first started. */
  acpSessionId?: string;
  lastSeq: number;
  agentPid?: number;
  /** Opaque; tells the process from a later one with the same pid. */
  agentStartTime?: string;
}

/** What a session is made of when it is new. */
export type NewSession = Pick<
  StoredSession,
  'sessionId' | 'agentId' | 'directory' | 'permissionMode' | 'modelId' | 'forkOf' | 'mcpServers'
> &
  Partial<Pick<StoredSession, 'createDirectory' | 'additionalDirectories' | 'environment'>> & {
    worktree?: StoredSession['worktreeRequest'];
  };

export interface StoredMessage {
  messageId: string;
  sessionId: string;
  text: string;
  /** Of this one turn. */
  permissionMode?: PermissionMode;
  modelId?: string;
  delivery: Delivery;
  /** Message inside whose turn it reached the agent. */
  steered?: string;
  /** `steering`: on its way into a turn that runs. */
  state: 'queued' | 'steering' | 'running' | 'done';
}

type Row = Record<string, unknown>;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const fromJson = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : undefined);

export const toJson = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

export const toSession = (row: Row): StoredSession => ({
  sessionId: String(row.session_id),
  agentId: String(row.agent_id),
  directory: String(row.directory),
  createDirectory: row.create_directory === 1,
  additionalDirectories: fromJson(row.additional_directories) as StoredSession['additionalDirectories'],
  environment: fromJson(row.environment) as StoredSession['environment'],
  mcpServers: fromJson(row.mcp_servers) as StoredSession['mcpServers'],
  worktreeRequest: fromJson(row.worktree_request) as StoredSession['worktreeRequest'],
  worktree: fromJson(row.worktree) as StoredSession['worktree'],
  forkOf: text(row.fork_of),
  permissionMode: row.permission_mode as PermissionMode,
  modelId: text(row.model_id),
  models: fromJson(row.models) as StoredSession['models'],
  configOptions: fromJson(row.config_options) as StoredSession['configOptions'],
  features: fromJson(row.features) as StoredSession['features'],
  status: row.status as SessionStatus,
  reason: fromJson(row.reason) as StoredSession['reason'],
  permission: fromJson(row.permission) as StoredSession['permission'],
  question: fromJson(row.question) as StoredSession['question'],
  continuation: fromJson(row.continuation) as StoredSession['continuation'],
  replay: text(row.replay),
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
  delivery: row.delivery as Delivery,
  steered: text(row.steered),
  state: row.state as StoredMessage['state'],
});
