import type { Approval, ApprovalStatus } from '../approval.ts';
import type { Envelope } from '../call.ts';
import type { Grant } from '../grant.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Surface } from '../spec.ts';

/** Keeps approvals. Source: the backend's store. */
export interface ApprovalStore {
  /**
   * In one transaction: where there is an approval of this very id, answers that as it stands; where the same requester
   * (token, surface, default session) has the same action and input pending and unexpired, counts one up there; else stores
   * the new one, unless `maxPending` of the requester's are pending already. What was read back once more takes the new code,
   * its tries and its time.
   * @param now RFC 3339; what expires at or before it is not pending
   * @returns the approval that stands for the request (undefined when there are too many) and how many are pending now
   */
  insertOrFold(
    approval: Approval,
    maxPending: number,
    now: string,
  ): Promise<{ approval?: Approval; pending: number }>;
  get(artifactId: string): Promise<Approval | undefined>;
  list(filter: { status?: ApprovalStatus }, page: PageRequest): Promise<Page<Approval>>;
  /**
   * Compare-and-set: moves `from` to `to` and stores `changes` with it, or does nothing.
   * @param lease who executes; stored on the move to `executing` and required to match on the move out of it
   * @returns whether this caller made the move
   */
  move(
    artifactId: string,
    from: ApprovalStatus,
    to: ApprovalStatus,
    changes?: Partial<
      Pick<Approval, 'decidedAt' | 'decidedBy' | 'decisionReason' | 'policyVersion' | 'result'>
    >,
    lease?: string,
  ): Promise<boolean>;
  /** What was read back to this requester before this action, made after `since` (RFC 3339); newest first, at most 50. */
  listConfirmations(
    of: { tokenId: string; surface: Surface; actionId: string },
    since: string,
  ): Promise<Approval[]>;
  /** Takes one try of a pending request and answers it; undefined where none is left or it is not pending. */
  takeTry(artifactId: string): Promise<Approval | undefined>;
  /** Approvals that some earlier process left in `executing` under another lease owner than `owner`. */
  listExecutingExcept(owner: string): Promise<Approval[]>;
}

/** Keeps grants. Source: the backend's store. */
export interface GrantStore {
  insert(grant: Grant): Promise<void>;
  get(grantId: string): Promise<Grant | undefined>;
  /** Newest first. */
  list(filter: { actionId?: string; active?: boolean }, page: PageRequest): Promise<Page<Grant>>;
  /** Grants of an action for a token and surface that are neither revoked nor over at `now`, newest first; at most 100. */
  candidates(of: { actionId: string; surface: string; tokenId: string }, now: string): Promise<Grant[]>;
  /** Compare-and-set: takes one use, if one is left and the grant is neither revoked nor over at `now`. */
  use(grantId: string, now: string): Promise<boolean>;
  /** Idempotent. Undefined when there is no such grant. */
  revoke(grantId: string, now: string): Promise<Grant | undefined>;
}

/** Remembers the outcome of calls that carried an idempotency key. Source: the backend's store. */
export interface IdempotencyStore {
  /**
   * Claims a key for one caller. The first claim answers `claimed`; later ones what became of it.
   * `owner` tells a call still running in this process from one that a crash cut off.
   */
  claim(
    key: IdempotencyKey,
    digest: string,
    owner: string,
  ): Promise<
    | { state: 'claimed' }
    | { state: 'open'; digest: string; owner: string }
    | { state: 'done'; digest: string; envelope: Envelope }
  >;
  /** Stores the outcome. */
  complete(key: IdempotencyKey, envelope: Envelope): Promise<void>;
  /** Forgets a claim whose call did nothing (it was refused before it ran). */
  release(key: IdempotencyKey): Promise<void>;
}

export interface IdempotencyKey {
  tokenId: string;
  key: string;
}

/** Clock, randomness and digests, handed in. */
export interface Runtime {
  now(): Date;
  /** Milliseconds of a clock that never goes back; for durations. */
  monotonicMs(): number;
  /** Milliseconds since the machine started, its sleep included; nobody can set it. */
  bootMs(): number;
  /** A new id: `sess_` and 16 characters of `a-z0-9`. */
  newId(
    prefix:
      | 'sess'
      | 'msg'
      | 'mach'
      | 'dev'
      | 'tok'
      | 'grant'
      | 'call'
      | 'run'
      | 'file'
      | 'mcps'
      | 'pk'
      | 'mem',
  ): string;
  newUuid(): string;
  /** Hex SHA-256 of a UTF-8 text. */
  sha256(text: string): string;
}
