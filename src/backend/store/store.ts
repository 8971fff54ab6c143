import type { Approval } from '../../core/approval.ts';
import type { TokenKind, TokenScope } from '../../core/call.ts';
import type { FeedBody, FeedEntry } from '../../core/feed.ts';
import type { LinkHello } from '../../core/link.ts';
import type { Machine, RecentPath } from '../../core/ports/fleet.ts';
import type { ApiToken, AuditPort, Device, PoliciesPort } from '../../core/ports/governance.ts';
import type { InboxKind } from '../../core/ports/inbox.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { SessionsPort, TranscriptsPort } from '../../core/ports/sessions.ts';
import type { ApprovalStore, GrantStore, IdempotencyStore } from '../../core/ports/stores.ts';
import type { AgentInfo } from '../../core/agent.ts';
import type {
  AgentOption,
  Delivery,
  FailureReason,
  Message,
  Session,
  SessionEvent,
} from '../../core/session.ts';
import type { AccountSettings } from './account-settings.ts';
import type { FileStore } from './files.ts';
import type { ManagedStore } from './managed-store.ts';
import type { MemoryStore } from './memory.ts';
import type { PasskeyStore } from './passkeys.ts';
import type { RunStore } from './run-store.ts';

/** Everything that the backend keeps. One implementation a database; test/backend/store loops over them. */
export interface BackendStore {
  sessions: SessionStore;
  messages: MessageStore;
  transcripts: TranscriptsPort & EventAppender & TailReader;
  approvals: ApprovalStore;
  grants: GrantStore;
  idempotency: IdempotencyStore;
  policies: PoliciesPort;
  audit: AuditPort;
  machines: MachineStore;
  identity: IdentityStore;
  deviceCodes: DeviceCodeStore;
  passkeys: PasskeyStore;
  settings: AccountSettings;
  memory: MemoryStore;
  feed: FeedStore;
  inbox: InboxStore;
  runs: RunStore;
  files: FileStore;
  managed: ManagedStore;
  close(): Promise<void>;
}

export interface NewSession {
  sessionId: string;
  agentId: string;
  machineId: string;
  directory: string;
  permissionMode: Session['permissionMode'];
  title?: string;
  modelId?: string;
  tags?: string[];
  additionalDirectories?: string[];
  environmentNames?: string[];
  mcpServers?: string[];
  startOptions?: StartOptions;
  parentSessionId?: string;
  runId?: string;
  forkedFrom?: Session['forkedFrom'];
  /** Refuses it while as many sessions of its root are at work. */
  maxAtWork?: number;
}

/** What a start asks for that a session does not show; kept so that it can be asked for again. */
export interface StartOptions {
  createDirectory?: boolean;
  worktree?: { branch: string; base?: string };
  within?: string[];
}

export interface SessionStore extends SessionsPort {
  /**
   * Stores it as `starting`.
   * @throws session_not_found | session_archived (its parent) | session_too_deep | rate_limited
   */
  insert(session: NewSession): Promise<Session>;
  /** @throws rate_limited while `max` sessions of the session's root are at work */
  requireRoom(sessionId: string, max: number): Promise<void>;
  /** Moves a session that is still `starting` to `failed`; nothing otherwise. */
  failStart(sessionId: string, reason: FailureReason): Promise<void>;
  /**
   * Takes a session that never started out of the lists of what is there and what waits: who asked for it has heard why.
   * Nothing happens to one that has a message, or more in its transcript than the failure.
   */
  dismissStart(sessionId: string): Promise<void>;
  /** Not archived sessions of a machine, oldest first. */
  ofMachine(machineId: string): Promise<Session[]>;
  /** Models that the session's agent reported when it started. */
  modelsOf(sessionId: string): Promise<AgentOption[]>;
  /** What its start asks for. */
  startOptionsOf(sessionId: string): Promise<StartOptions>;
  /** Archived sessions whose machine has not been told, oldest first. */
  archivedUntold(machineId: string): Promise<string[]>;
  /** Notes that the machine knows of the archiving, and whether the worktree went with it. */
  markArchiveTold(sessionId: string, worktree: 'none' | 'removed' | 'kept'): Promise<Session>;
}

export interface MessageStore {
  /**
   * Stores as `queued`. The same id with the same text and session answers the stored one.
   * @throws conflict for the same id with another text or session
   */
  insert(message: {
    messageId: string;
    sessionId: string;
    text: string;
    overrides: MessageOverrides;
  }): Promise<Message>;
  get(messageId: string): Promise<Message | undefined>;
  /** Queued messages that the daemon has not yet acknowledged, oldest first. */
  undelivered(sessionId: string): Promise<(Message & { overrides: MessageOverrides })[]>;
  markDelivered(messageId: string): Promise<void>;
  /** Cancels those that the daemon has not acknowledged, of `messageIds` only if given. Answers their ids. */
  cancelUndelivered(sessionId: string, reason: FailureReason, messageIds?: string[]): Promise<string[]>;
  /** Forgets a message that the daemon did not take, so that its id can be used again. */
  withdraw(messageId: string): Promise<void>;
  /** Whether any message is queued or running. */
  hasOpen(sessionId: string): Promise<boolean>;
  /** Mode that the message asked for whose turn runs, or is the next to. */
  runningMode(sessionId: string): Promise<Session['permissionMode'] | undefined>;
}

/** What a message asks for beside its text. */
export interface MessageOverrides {
  permissionMode?: Session['permissionMode'];
  modelId?: string;
  /** Absent: it queues. */
  delivery?: Exclude<Delivery, 'queue'>;
}

export interface EventAppender {
  /**
   * Appends what follows the last stored event, skips what is there already, stops before a gap, and updates the
   * session's and messages' rows by `projectEvent`, all in one transaction.
   * @returns the last stored `seq` @throws session_not_found
   */
  append(sessionId: string, events: SessionEvent[]): Promise<{ ackedSeq: number }>;
}

/** One side's words in a conversation. */
export interface TailLine {
  role: 'user' | 'agent';
  text: string;
}

export interface TailReader {
  /** The end of a conversation, oldest first, at most `maxChars` characters; what is cut is cut at its start. */
  tail(sessionId: string, maxChars: number): Promise<{ lines: TailLine[]; complete: boolean }>;
}

export interface MachineStore {
  /** Registers or refreshes a machine and marks it online. */
  connect(hello: LinkHello): Promise<void>;
  disconnect(machineId: string): Promise<void>;
  /** At the backend's start nothing is linked yet. */
  disconnectAll(): Promise<void>;
  list(): Promise<Omit<Machine, 'current'>[]>;
  get(machineId: string): Promise<(Omit<Machine, 'current'> & { agents: AgentInfo[] }) | undefined>;
  setAgents(machineId: string, agents: AgentInfo[]): Promise<void>;
  recentPaths(filter: { machineId?: string; limit: number }): Promise<RecentPath[]>;
}

export interface NewToken {
  tokenId: string;
  /** Hex SHA-256 of the secret; the secret itself is never stored. */
  hash: string;
  kind: TokenKind;
  name: string;
  scope: TokenScope;
  deviceId?: string;
  expiresAt?: string;
}

export interface StoredToken extends ApiToken {
  deviceId?: string;
}

/** What waits for a person, as far as rows tell. */
export interface InboxStore {
  /** Newest first, each with the id of the session that asks, if one does. */
  list(
    filter: { kind?: InboxKind; sessionId?: string; now: string },
    page: PageRequest,
  ): Promise<Page<InboxRow>>;
}

export interface InboxRow {
  kind: InboxKind;
  at: string;
  session?: Session;
  approval?: Approval;
  /** Sessions from the root down to the one that asks. */
  lineage: { sessionId: string; title?: string }[];
}

/** RFC 8628 request of a device that wants to sign in. */
export interface DeviceCode {
  deviceCodeHash: string;
  /** As shown to the person, without hyphen, upper case. */
  userCode: string;
  deviceName: string;
  expiresAt: string;
  status: 'pending' | 'approved' | 'denied' | 'used';
  /** Last poll, to answer `slow_down`. */
  polledAt?: string;
  /** Recipient of age that the device made for this sign-in. */
  recipient?: string;
  /** The account's key, sealed to it by whoever approved. */
  sealedKey?: string;
}

export interface IdentityStore {
  insertDevice(device: { deviceId: string; name: string; passkeyId?: string }): Promise<void>;
  listDevices(): Promise<Omit<Device, 'current'>[]>;
  /** Revokes the device and all its tokens in one transaction. Idempotent. */
  revokeDevice(deviceId: string): Promise<Omit<Device, 'current'> | undefined>;
  insertToken(token: NewToken): Promise<ApiToken>;
  /**
   * Stores the token of a session's agent and revokes those that it had.
   * @throws session_not_found | session_archived
   */
  insertSessionToken(sessionId: string, token: NewToken): Promise<void>;
  /** Calls back for each token that ends with its session. Answers the way to stop. */
  onSessionTokenRevoked(listener: (tokenId: string) => void): () => void;
  /** The token with this hash, revoked and expired ones too. */
  findToken(hash: string): Promise<StoredToken | undefined>;
  /** Notes the use of a token, at most once a minute each. */
  touchToken(tokenId: string): Promise<void>;
  /** Tokens of kind `api`, newest first. */
  listTokens(): Promise<ApiToken[]>;
  revokeToken(tokenId: string): Promise<ApiToken | undefined>;
}

/** Kept apart from tokens: short-lived and compare-and-set. */
export interface DeviceCodeStore {
  insert(code: DeviceCode): Promise<void>;
  findByUserCode(userCode: string): Promise<DeviceCode | undefined>;
  findByHash(deviceCodeHash: string): Promise<DeviceCode | undefined>;
  /** Compare-and-set of the status. */
  move(
    deviceCodeHash: string,
    from: DeviceCode['status'],
    to: DeviceCode['status'],
    /** Stored with the move; forgotten with the move to `used`. */
    sealedKey?: string,
  ): Promise<boolean>;
  notePoll(deviceCodeHash: string): Promise<void>;
}

/** The change feed. Every write above adds its entries in its own transaction. */
export interface FeedStore {
  /** Adds an entry that no other write makes (`delta` is never stored: use `tell`). */
  append(body: FeedBody): Promise<void>;
  /** Passes a live entry to subscribers without storing it. */
  tell(body: FeedBody): void;
  /** Stored entries after `id`, oldest first. */
  since(id: number, limit: number): Promise<FeedEntry[]>;
  /** Newest id, 0 when empty; and the oldest one that is still kept. */
  bounds(): Promise<{ oldest: number; newest: number }>;
  /** Hears each entry after its transaction has committed, in order. */
  subscribe(listener: (entry: FeedEntry) => void): () => void;
}
