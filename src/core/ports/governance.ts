import type { Approval, ApprovalDecision, ApprovalStatus } from '../approval.ts';
import type { Caller, Envelope, TokenKind, TokenScope } from '../call.ts';
import type { Grant } from '../grant.ts';
import type { Page, PageRequest } from '../page.ts';
import type { PolicyDocument, PolicyPatch, PolicySettings } from '../policy.ts';

export interface PoliciesPort {
  get(): Promise<PolicyDocument>;
  /**
   * Merges rules and settings by compare-and-set; `null` for a rule, or for a setting, removes it.
   * @param version the version that the caller saw; without it the newest is taken
   * @throws conflict when `version` is not the newest
   */
  set(
    patch: PolicyPatch,
    version: number | undefined,
    by: string,
    settings?: { [K in keyof PolicySettings]: PolicySettings[K] | null },
  ): Promise<PolicyDocument>;
  /** Replaces the whole document by compare-and-set. @throws conflict when `version` is not the newest */
  replace(
    document: Pick<PolicyDocument, 'rules' | 'settings'>,
    version: number,
    by: string,
  ): Promise<PolicyDocument>;
}

/** The approval inbox. The state machine is core's; see `src/core/approvals.ts`. */
export interface ApprovalsPort {
  /** Newest first. */
  list(filter: { status?: ApprovalStatus }, page: PageRequest): Promise<Page<Approval>>;
  /**
   * With a caller, as that caller may see it: a token for one session sees what it and those below it asked for.
   * @throws approval_not_found
   */
  get(artifactId: string, caller?: Caller): Promise<Approval>;
  /**
   * Waits for a decided and finished approval, `seconds` at most; answers it as it is then. A requester that takes the call
   * back while it waits withdraws the request.
   */
  wait(artifactId: string, seconds: number, signal: AbortSignal, caller: Caller): Promise<Approval>;
  /** Files a request to run an action, whatever the policy says of it. */
  create(
    request: { actionId: string; input: Record<string, unknown>; reason?: string },
    caller: Caller,
  ): Promise<Approval>;
  /**
   * Decides, and on `approve` runs what was reviewed.
   * @throws approval_not_found | approval_already_decided | approval_expired | approval_stale |
   * self_approval_forbidden | permission_escalation_denied
   */
  decide(
    artifactId: string,
    decision: ApprovalDecision,
    reason: string | undefined,
    caller: Caller,
  ): Promise<{ approval: Approval; result?: Envelope }>;
  /** Withdraws a pending request. @throws approval_not_found | approval_already_decided */
  cancel(artifactId: string, caller: Caller): Promise<Approval>;
}

export interface GrantRequest {
  /** Approval that serves as the example. */
  artifactId: string;
  /** Fields that are held, to their value or to the path and what lies below. Default: every field to its value. */
  pins?: Record<string, 'exact' | 'prefix'>;
  onThisMachineOnly: boolean;
  /** Hours that it lasts. */
  hours: number;
  uses: number;
}

/** Leave to run the like of an approved request without asking. Source: core, over the store. */
export interface GrantsPort {
  /** @throws approval_not_found | invalid_input | permission_escalation_denied */
  create(request: GrantRequest, caller: Caller): Promise<Grant>;
  /** Newest first. */
  list(filter: { actionId?: string; active?: boolean }, page: PageRequest): Promise<Page<Grant>>;
  /** Idempotent. @throws not_found | permission_escalation_denied */
  revoke(grantId: string, caller: Caller): Promise<Grant>;
  /** Grants of an action that are in force for the caller, and whether each would cover the call. */
  explain(call: {
    actionId: string;
    input: Record<string, unknown>;
    caller: Caller;
  }): Promise<{ grantId: string; covers: boolean; reason?: string }[]>;
}

export interface AuditRow {
  auditId: number;
  at: string;
  surface: string;
  client: string;
  tokenId: string;
  deviceId?: string;
  sessionId?: string;
  actionId: string;
  /** Name that the caller used, where it was not the id. */
  calledAs?: string;
  effect?: string;
  /** Redacted. */
  input: Record<string, unknown>;
  inputDigest: string;
  outcome: 'ok' | 'approval_required' | 'error';
  code?: string;
  durationMs: number;
  approvalId?: string;
  /** Grant that let it run without asking. */
  grantId?: string;
  /** Digest of this row and of the digest of the row before it: the chain by which a change is found. */
  hash: string;
}

export interface AuditFilter {
  /** Leaves out calls that only read and did not fail: most calls only look. */
  withoutReads?: boolean;
  surface?: string;
  client?: string;
  actionId?: string;
  outcome?: AuditRow['outcome'];
  code?: string;
  sessionId?: string;
  /** RFC 3339, inclusive. */
  since?: string;
  until?: string;
}

/** What `verify` found. */
export interface AuditVerdict {
  /** Rows that were checked, oldest first, until the first fault. */
  rows: number;
  /** Digest of the newest row that was checked. Kept elsewhere, it proves later that no row was cut off at the end. */
  head: string;
  /** The first row that is not what was written, or before which rows are missing. */
  fault?: { auditId: number; reason: string };
}

export interface AuditPort {
  /** Adds a row to the chain. */
  append(row: Omit<AuditRow, 'auditId' | 'hash'>): Promise<void>;
  /** Newest first; with `order: 'oldest'` oldest first. */
  list(filter: AuditFilter & { order?: 'newest' | 'oldest' }, page: PageRequest): Promise<Page<AuditRow>>;
  /** Recomputes the chain. `head`: a digest that was kept, to be found in it. */
  verify(head?: string): Promise<AuditVerdict>;
}

export interface Device {
  deviceId: string;
  name: string;
  createdAt: string;
  lastUsedAt?: string;
  revokedAt?: string;
  /** Passkey that signed it in. */
  passkeyId?: string;
  /** The caller uses this device's token. */
  current: boolean;
}

export interface ApiToken {
  tokenId: string;
  name: string;
  kind: TokenKind;
  scope: TokenScope;
  createdAt: string;
  expiresAt?: string;
  lastUsedAt?: string;
  revokedAt?: string;
}

/** Who may call. Tokens are opaque, stored hashed and revocable. */
export interface IdentityPort {
  listDevices(caller: Caller): Promise<Device[]>;
  /** Revokes every token of the device. Idempotent. @throws not_found */
  revokeDevice(deviceId: string): Promise<Device>;
  /**
   * Lets the device that shows this user code sign in (RFC 8628).
   * @param sealedKey the account's key, encrypted to the device; it is passed on and forgotten
   * @throws not_found | conflict
   */
  approveDevice(userCode: string, caller: Caller, sealedKey?: string): Promise<{ deviceName: string }>;
  listTokens(): Promise<ApiToken[]>;
  /** The secret is in this answer only. A token of kind `voice` speaks for surface `voice` and no other, whatever the scope says. */
  createToken(
    request: { name: string; kind?: 'api' | 'voice'; scope: TokenScope; expiresInDays?: number },
    caller: Caller,
  ): Promise<ApiToken & { token: string }>;
  /** Idempotent. @throws not_found */
  revokeToken(tokenId: string): Promise<ApiToken>;
}
