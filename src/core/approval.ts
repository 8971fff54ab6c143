import type { Envelope, TokenKind, TokenScope } from './call.ts';
import type { Language, Surface } from './spec.ts';

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'executing',
  'succeeded',
  'failed',
  'unknown',
  'denied',
  'expired',
  'canceled',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export type ApprovalDecision = 'approve' | 'deny';

/** The moves of an approval. Each one is a compare-and-set in the store. */
export const APPROVAL_MOVES: Record<ApprovalStatus, readonly ApprovalStatus[]> = {
  pending: ['approved', 'denied', 'expired', 'canceled'],
  approved: ['executing', 'expired', 'failed'],
  executing: ['succeeded', 'failed', 'unknown'],
  succeeded: [],
  failed: [],
  unknown: [],
  denied: [],
  expired: [],
  canceled: [],
};

/** True once nothing more can happen to it. */
export const isSettled = (status: ApprovalStatus): boolean => APPROVAL_MOVES[status].length === 0;

/** A request filed in place of running. Times are RFC 3339. */
export interface Approval {
  artifactId: string;
  actionId: string;
  summary: string;
  status: ApprovalStatus;
  /** Normalised input, without secret fields. */
  input: Record<string, unknown>;
  /** Digest of action id and normalised input; the approval is good for this only. */
  inputDigest: string;
  requester: {
    surface: Surface;
    client: string;
    tokenId: string;
    deviceId?: string;
    machineId?: string;
    /** Default session of the caller at the time. */
    sessionId?: string;
    /** What the token was and could do; it runs with no more than that. */
    tokenKind?: TokenKind;
    scope?: TokenScope;
  };
  /** Session that the action works on. */
  sessionId?: string;
  /** Digest of what else it was reviewed against: the action as declared, and the session's settings. */
  boundTo: string;
  /** Set where the caller's own yes decides, with the code that came with the words: what was read back to the person. */
  confirmation?: {
    words: string;
    language: Language;
    /** Digest of the code; the code itself is in the one answer only. */
    codeDigest: string;
  };
  /** Codes that may still be tried; goes with `confirmation`. */
  triesLeft?: number;
  /** How often the same was asked for while it was pending. */
  count: number;
  /** Why the grant that came nearest did not cover it. */
  nearestGrant?: { grantId: string; reason: string };
  reason?: string;
  createdAt: string;
  expiresAt: string;
  decidedAt?: string;
  decidedBy?: string;
  decisionReason?: string;
  /** Version of the policy when it was decided. */
  policyVersion?: number;
  /** Outcome of the execution. */
  result?: Envelope;
}
