import type { Generated } from 'kysely';
import type { Approval, ApprovalStatus } from '../../core/approval.ts';
import type { Envelope, TokenKind, TokenScope } from '../../core/call.ts';
import type { FeedBody } from '../../core/feed.ts';
import type { StoredFile } from '../../core/file.ts';
import type { Grant } from '../../core/grant.ts';
import type { PolicyDocument, PolicySettings } from '../../core/policy.ts';
import type { AuditRow } from '../../core/ports/governance.ts';
import type { ExecutionRun, RunStatus } from '../../core/run.ts';
import type {
  AgentOption,
  ConfigOption,
  FailureReason,
  MessageStatus,
  PermissionMode,
  PermissionRequest,
  Question,
  Session,
  SessionEvent,
  SessionStatus,
  Usage,
  Worktree,
} from '../../core/session.ts';
import type { ToldAgent } from '../agent-info.ts';
import type { ManagedSchema } from './managed-schema.ts';
import type { MemoryRow } from './memory-rows.ts';
import type { ChallengePurpose } from './passkeys.ts';
import type { Json } from './rows.ts';
import type { RunMessageKind, StoredRun } from './run-store.ts';
import type { DeviceCode, MessageOverrides, StartOptions } from './store.ts';

/** Tables as the queries see them; columns are snake_case in the database. Times are RFC 3339 in UTC, so they sort. */
export interface Schema extends ManagedSchema {
  sessions: {
    sessionId: string;
    title: string | null;
    titleSource: 'user' | 'agent' | null;
    status: SessionStatus;
    agentId: string;
    machineId: string;
    directory: string;
    permissionMode: PermissionMode;
    modelId: string | null;
    models: Json<AgentOption[]>;
    reason: Json<FailureReason> | null;
    permission: Json<PermissionRequest> | null;
    question: Json<Question> | null;
    parentSessionId: string | null;
    /** Ids from the root down to the session itself, each with a `/` behind it. */
    path: string;
    depth: number;
    tags: Json<string[]>;
    additionalDirectories: Json<string[]> | null;
    environmentNames: Json<string[]> | null;
    /** Managed servers that it gets; null for all. */
    mcpServers: Json<string[]> | null;
    /** What its start asks for that does not show later. */
    startOptions: Json<StartOptions> | null;
    worktree: Json<Worktree> | null;
    runId: string | null;
    forkedFrom: Json<NonNullable<Session['forkedFrom']>> | null;
    configOptions: Json<ConfigOption[]> | null;
    usage: Json<Usage> | null;
    /** Since when it waits for a person, one for each reason; null while it does not. */
    permissionAt: string | null;
    questionAt: string | null;
    /** Null too for a start that failed and of which its caller was told. */
    failedAt: string | null;
    stalledSince: string | null;
    /** When its machine was told that it is archived; null while it has to be. */
    archiveToldAt: string | null;
    /** Folded title and directory. */
    searchText: string;
    lastSeq: number;
    createdAt: string;
    updatedAt: string;
    archivedAt: string | null;
  };
  messages: {
    /** Order of arrival, in which they are delivered. */
    ordinal: Generated<number>;
    messageId: string;
    sessionId: string;
    text: Json<string>;
    status: MessageStatus;
    overrides: Json<MessageOverrides>;
    createdAt: string;
    deliveredAt: string | null;
    reply: Json<string> | null;
    reason: Json<FailureReason> | null;
  };
  events: {
    sessionId: string;
    seq: number;
    at: string;
    type: string;
    messageId: string | null;
    body: Json<SessionEvent>;
    /** Folded text; null where the event has none. */
    searchText: string | null;
  };
  machines: {
    machineId: string;
    name: string;
    platform: string;
    daemonVersion: string;
    agents: Json<ToldAgent[]>;
    lastSeenAt: string;
    /** Null while it is linked. */
    offlineSince: string | null;
  };
  approvals: {
    artifactId: string;
    actionId: string;
    summary: string;
    status: ApprovalStatus;
    input: Json<Record<string, unknown>>;
    inputDigest: string;
    requester: Json<Approval['requester']>;
    /** Who asks: whose requests fold and are counted together. */
    requesterKey: string;
    sessionId: string | null;
    /** Session that the requester works in. */
    askingSessionId: string | null;
    boundTo: string;
    confirmation: Json<NonNullable<Approval['confirmation']>> | null;
    triesLeft: number | null;
    count: number;
    nearestGrant: Json<NonNullable<Approval['nearestGrant']>> | null;
    reason: string | null;
    createdAt: string;
    expiresAt: string;
    decidedAt: string | null;
    decidedBy: string | null;
    decisionReason: string | null;
    policyVersion: number | null;
    result: Json<Envelope> | null;
    /** Who executes it. */
    lease: string | null;
  };
  grants: {
    grantId: string;
    artifactId: string;
    actionId: string;
    surface: Grant['surface'];
    tokenId: string;
    machineId: string | null;
    pins: Json<Grant['pins']>;
    createdAt: string;
    createdBy: string;
    expiresAt: string;
    uses: number;
    usesLeft: number;
    revokedAt: string | null;
  };
  runs: {
    runId: string;
    /** Order in which the runs of a session get their turn. */
    place: number;
    sessionId: string;
    intent: ExecutionRun['intent'];
    backendTarget: Json<ExecutionRun['backendTarget']>;
    instructions: Json<string>;
    modelId: string | null;
    permissionMode: PermissionMode;
    worktree: number | null;
    promptVersion: number;
    status: RunStatus;
    runSessionId: string | null;
    timeoutSeconds: number;
    requester: Json<StoredRun['requester']>;
    stopDue: number;
    answered: number;
    createdAt: string;
    startedAt: string | null;
    endedAt: string | null;
    result: Json<NonNullable<ExecutionRun['result']>> | null;
    rawText: Json<string> | null;
    resultProblem: Json<string> | null;
    reason: Json<FailureReason> | null;
  };
  runMessages: {
    runId: string;
    ordinal: number;
    messageId: string;
    kind: RunMessageKind;
    text: Json<string>;
  };
  idempotency: {
    tokenId: string;
    key: string;
    digest: string;
    owner: string;
    /** Null while the call is open. */
    envelope: Json<Envelope> | null;
    createdAt: string;
  };
  /** One row a version; the highest is in force. */
  policies: {
    version: number;
    rules: Json<PolicyDocument['rules']>;
    settings: Json<PolicySettings> | null;
    changedBy: string;
    changedAt: string;
  };
  audit: {
    auditId: Generated<number>;
    at: string;
    surface: string;
    client: string;
    tokenId: string;
    deviceId: string | null;
    sessionId: string | null;
    actionId: string;
    calledAs: string | null;
    effect: string | null;
    input: Json<Record<string, unknown>>;
    inputDigest: string;
    outcome: AuditRow['outcome'];
    code: string | null;
    durationMs: number;
    approvalId: string | null;
    grantId: string | null;
    /** Chains the row to the one before it. */
    hash: string;
  };
  devices: {
    deviceId: string;
    name: string;
    createdAt: string;
    lastUsedAt: string | null;
    revokedAt: string | null;
    /** Passkey that signed it in. */
    passkeyId: string | null;
  };
  tokens: {
    tokenId: string;
    hash: string;
    kind: TokenKind;
    name: string;
    scope: Json<TokenScope>;
    deviceId: string | null;
    /** Session whose agent holds it. */
    sessionId: string | null;
    createdAt: string;
    expiresAt: string | null;
    lastUsedAt: string | null;
    revokedAt: string | null;
  };
  deviceCodes: {
    deviceCodeHash: string;
    userCode: string;
    deviceName: string;
    expiresAt: string;
    status: DeviceCode['status'];
    polledAt: string | null;
    /** Of the device, to which the account's key is sealed. */
    recipient: string | null;
    sealedKey: string | null;
  };
  memoryItems: MemoryRow & { ordinal: Generated<number> };
  memoryVectors: { itemId: string; model: string; vector: Json<number[]> };
  accountSettings: { name: string; value: Json<unknown>; updatedAt: string };
  passkeys: {
    passkeyId: string;
    credentialId: string;
    name: string;
    site: string;
    publicKey: string;
    counter: number;
    transports: Json<string[]>;
    sealedKey: string | null;
    createdAt: string;
    lastUsedAt: string | null;
    revokedAt: string | null;
  };
  passkeyChallenges: {
    hash: string;
    purpose: ChallengePurpose;
    /** Token that asked for it, where it had to have one. */
    tokenId: string;
    expiresAt: string;
  };
  files: StoredFile;
  /** One row a key; the highest is in force. */
  accountKeys: { keyId: number; recipient: string; createdAt: string };
  feed: { feedId: Generated<number>; at: string; body: Json<FeedBody> };
}
