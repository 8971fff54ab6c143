import type { AgentInfo } from './agent.ts';
import type { FileFacts, SentFile } from './file.ts';
import type { ServerConfig } from './managed/config.ts';
import type { RunnableServer, ServerState, ToolCallResult } from './managed/managed.ts';
import type { Delivery, PermissionMode, QuestionAnswer, SessionEvent } from './session.ts';

/**
 * The machine link: JSON-RPC 2.0 in WebSocket text frames between a daemon and its backend, both ways.
 * The daemon opens it at `GET /v1/link` with its bearer token and says `hello` first. Every request may be sent
 * again after a reconnect: starting and delivering are idempotent by their ids, events by their numbers.
 */
export const LINK_PATH = '/v1/link';

/** Raised when the two ends stop understanding each other. */
export const LINK_PROTOCOL = 1;

/** Milliseconds between pings, and of silence after which an end takes the link for dead. */
export const LINK_PING_MS = 15_000;
export const LINK_DEAD_MS = 40_000;

/** Milliseconds that an agent has to become ready, as its daemon counts them. */
export const START_LIMIT_MS = 60_000;

/** Milliseconds by which the backend waits longer for a start, so that the daemon's own answer comes first. */
export const START_SLACK_MS = 15_000;

/** Largest frame, bytes. A larger one closes the link with 1009. */
export const LINK_MAX_FRAME = 8 * 1024 * 1024;

/**
 * Bounds of what an event says of an agent, characters or entries. The daemon makes events that keep to them and the
 * backend refuses others, so both ends read them here.
 */
export const EVENT_LIMITS = {
  /** Ids: ours, and the agent's of its tool calls and permission options. */
  id: 200,
  /** Ids and names of models, names of options. */
  name: 500,
  title: 2000,
  /** Kind and status of a tool call, reason of a stop. */
  word: 200,
  /** The agent's own id of a conversation. */
  acpSessionId: 1000,
  models: 1000,
  /** Of all models of one session together, in JSON: a hello carries the lists of all agents. */
  modelsChars: 256 * 1024,
  permissionOptions: 50,
  /** Message of a question, and its fields. */
  question: 20_000,
  questionFields: 50,
  configOptions: 100,
  /** Paths, branches and addresses. */
  path: 8192,
} as const;

/** Bytes of a text file that is read for the memory. */
export const READ_TEXT_MAX_BYTES = 2 * 1024 * 1024;

/** Most events in one `events.append`, and their most bytes in JSON. */
export const APPEND_MAX_EVENTS = 200;
export const APPEND_MAX_BYTES = 1024 * 1024;

export interface LinkHello {
  protocol: number;
  machineId: string;
  machineName: string;
  platform: string;
  daemonVersion: string;
  /** New at each start of the daemon. */
  instanceId: string;
  agents: AgentInfo[];
  /** Sessions that this daemon holds, and the last event that it recorded of each. */
  sessions: { sessionId: string; lastSeq: number }[];
}

export interface LinkWelcome {
  protocol: number;
  backendVersion: string;
  /** Last event that the backend holds of each session of this machine; the daemon resends what follows. */
  sessions: { sessionId: string; ackedSeq: number }[];
}

/** What the backend asks of a daemon. */
export type DaemonMethods = {
  'session.start': {
    params: {
      sessionId: string;
      agentId: string;
      directory: string;
      permissionMode: PermissionMode;
      modelId?: string;
      title?: string;
      additionalDirectories?: string[];
      /** Make the directory if it is not there. */
      createDirectory?: boolean;
      /** Make a git worktree of the directory's repository and work there. `base`: what it starts from, default HEAD. */
      worktree?: { branch: string; base?: string };
      /** Refuse directories that lie, with all links followed, in none of these. */
      within?: string[];
      /** Managed servers whose tools it may use; absent: all that the servers' own settings allow. */
      mcpServers?: string[];
      /** Variables for the agent, values included. */
      environment?: Record<string, string>;
      /** Session of this machine whose conversation it goes on with. */
      forkOf?: string;
    };
    /** Answers when the agent is ready, with the events so far already sent. */
    result: Record<string, never>;
  };
  'session.deliver': {
    params: {
      sessionId: string;
      messageId: string;
      text: string;
      permissionModeOverride?: PermissionMode;
      modelOverride?: string;
      /** Default `queue`. A message that can no longer steer, because the turn has ended, is queued. */
      delivery?: Delivery;
    };
    /** Answers when the message is on the daemon's disk. */
    result: Record<string, never>;
  };
  'session.interrupt': { params: { sessionId: string }; result: { interrupted: boolean } };
  'session.stop': { params: { sessionId: string }; result: Record<string, never> };
  'session.set_mode': {
    params: { sessionId: string; permissionMode: PermissionMode };
    result: Record<string, never>;
  };
  'session.set_model': { params: { sessionId: string; modelId: string }; result: Record<string, never> };
  'session.answer': {
    params: {
      sessionId: string;
      requestId: string;
      /** Absent: canceled. */
      optionId?: string;
      by: string;
    };
    result: Record<string, never>;
  };
  'session.answer_question': {
    params: {
      sessionId: string;
      requestId: string;
      answer: QuestionAnswer;
      content?: Record<string, unknown>;
      by: string;
    };
    result: Record<string, never>;
  };
  'session.set_config_option': {
    params: { sessionId: string; configId: string; value: string | boolean };
    result: Record<string, never>;
  };
  /** Ends the agent and removes the session's worktree if nothing in it would be lost. Idempotent. */
  'session.archive': {
    params: { sessionId: string };
    result: { worktree: 'none' | 'removed' | 'kept'; reason?: string };
  };
  /** Looks at a file as `session.send_file` would, and reads it once. @throws what `session.send_file` refuses it with */
  'session.look_at_file': { params: { sessionId: string; path: string }; result: FileFacts };
  /** Reads a text file of the workspace, at most `READ_TEXT_MAX_BYTES`. @throws as `session.send_file`; not_a_file for what is no text */
  'session.read_text': {
    params: { sessionId: string; path: string };
    result: { path: string; text: string };
  };
  /** Encrypts a file and uploads it under the id that the backend expects. Answers once the backend has it. */
  'session.send_file': {
    params: {
      sessionId: string;
      fileId: string;
      path: string;
      message?: string;
      /** Of the account. A daemon that knows another one refuses. */
      recipient: string;
      /** What a person approved; another file is `approval_stale`. */
      reviewed?: FileFacts;
    };
    result: SentFile;
  };
  /** The account's managed MCP servers that this daemon shall run, whole; sent after each welcome and change. Idempotent. */
  'mcp.apply': { params: { servers: RunnableServer[] }; result: Record<string, never> };
  /** Calls a tool of a server that this daemon runs. `mcp.cancel` with the same `callId` takes it back. */
  'mcp.call': {
    params: {
      callId: string;
      key: string;
      tool: string;
      arguments: Record<string, unknown>;
      client?: string;
      timeoutMs: number;
    };
    result: ToolCallResult;
  };
  /** Connects anew and lists. */
  'mcp.test': { params: { key: string }; result: ServerState };
  'agents.list': { params: Record<string, never>; result: { agents: AgentInfo[] } };
};

/** What a daemon asks of the backend. */
export type BackendMethods = {
  hello: { params: LinkHello; result: LinkWelcome };
  'events.append': {
    params: { sessionId: string; events: SessionEvent[] };
    /** Last event that is safe in the backend's store. */
    result: { ackedSeq: number };
  };
  /** A token for the surface `agent` of one session of this machine. An earlier one of the session ends with it. */
  'session.token': { params: { sessionId: string }; result: { token: string } };
  /**
   * How the managed servers of this machine do, whole; sent after each hello and change. `config` where the server is of this
   * machine's own configuration file, without what is secret; its key begins with `file:`.
   */
  'mcp.states': { params: { servers: MachineServer[] }; result: Record<string, never> };
  /** The end of a conversation as plain text, oldest first, for an agent that cannot load it. */
  'transcript.tail': {
    params: { sessionId: string; maxChars: number };
    result: { lines: { role: 'user' | 'agent'; text: string }[]; complete: boolean };
  };
};

/** What a daemon tells without waiting: text as it streams, for live viewers only. Never stored. */
export interface DaemonNotices {
  delta: { sessionId: string; messageId: string; kind: 'text' | 'thought'; block: number; text: string };
}

/** What a backend tells a daemon without waiting. */
export interface BackendNotices {
  'mcp.cancel': { callId: string };
}

export interface MachineServer {
  state: ServerState;
  config?: Omit<ServerConfig, 'token' | 'headers' | 'env'> & { name: string };
  /** Names of the secret values that are set. */
  secrets?: string[];
}

export type DaemonMethod = keyof DaemonMethods;

/** JSON-RPC frames. A failed call carries the wire error of core in `error.data`. */
export type LinkFrame =
  | { jsonrpc: '2.0'; id: number; method: string; params: unknown }
  | { jsonrpc: '2.0'; id: number; result: unknown }
  | { jsonrpc: '2.0'; id: number; error: { code: number; message: string; data?: unknown } }
  | { jsonrpc: '2.0'; method: string; params: unknown };
