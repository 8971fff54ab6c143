import type { Approval, ApprovalStatus } from '../approval.ts';
import type { Envelope } from '../call.ts';
import type { Page, PageRequest } from '../page.ts';

/** Keeps approvals. Source: the backend's store. */
export interface ApprovalStore {
  insert(approval: Approval): Promise<void>;
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
    changes?: Partial<Pick<Approval, 'decidedAt' | 'decidedBy' | 'decisionReason' | 'result'>>,
    lease?: string,
  ): Promise<boolean>;
  /** Approvals that some earlier process left in `executing` under another lease owner than `owner`. */
  listExecutingExcept(owner: string): Promise<Approval[]>;
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
  /** A new id: `sess_` and 16 characters of `a-z0-9`. */
  newId(prefix: 'sess' | 'msg' | 'mach' | 'dev' | 'tok' | 'call'): string;
  newUuid(): string;
  /** Hex SHA-256 of a UTF-8 text. */
  sha256(text: string): string;
}
