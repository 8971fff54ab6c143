import type { Approval } from './approval.ts';
import type { Caller } from './call.ts';
import { KaiwuError } from './errors.ts';
import type { ActionData } from './spec.ts';

/** Policy rule whose `mcp.enabled` lets a host decide what it asked for itself. */
export const SELF_DECISION_RULE = 'approvals.selfDecision';

/** Repeating a decision answers the recorded state; the opposite one is refused. */
export function requireSameDecision(approval: Approval, decision: 'approve' | 'deny'): Approval {
  if (approval.status === 'expired') throw expired(approval);
  const same = approval.decidedAt !== undefined && (approval.status === 'denied') === (decision === 'deny');
  if (!same) throw alreadyDecided(approval);
  return approval;
}

export const expired = (approval: Approval) =>
  new KaiwuError('approval_expired', `Approval ${approval.artifactId} expired at ${approval.expiresAt}.`, {
    hint: 'The requester can ask again.',
  });

export const approvalNotFound = (artifactId: string) =>
  new KaiwuError('approval_not_found', `There is no approval request ${JSON.stringify(artifactId)}.`, {
    hint: 'List the approval requests to see their ids.',
  });

export const alreadyDecided = (approval: Approval) =>
  new KaiwuError(
    'approval_already_decided',
    `Approval ${approval.artifactId} is ${approval.status} already.`,
    {
      details: {
        artifactId: approval.artifactId,
        status: approval.status,
        ...(approval.decidedBy === undefined ? {} : { decidedBy: approval.decidedBy }),
      },
    },
  );

export const neverDecides = (caller: Caller) =>
  new KaiwuError('permission_escalation_denied', `Surface ${caller.surface} never decides approvals.`, {
    hint: 'A person decides, in the app or with the CLI.',
  });

export const ownRequest = (approval: Approval) =>
  new KaiwuError(
    'self_approval_forbidden',
    `Approval ${approval.artifactId} was asked for by this host itself.`,
    {
      hint: `A person decides: kaiwu approval request decide ${approval.artifactId} approve. To let hosts decide their own requests: kaiwu policy set ${SELF_DECISION_RULE}.mcp allow.`,
    },
  );

export const stale = (approval: Approval, what: string) =>
  new KaiwuError(
    'approval_stale',
    `Approval ${approval.artifactId} no longer fits: ${what} has changed since it was reviewed.`,
    {
      hint: 'Nothing was done. Call the action again to file a new request.',
    },
  );

export const noGrant = (actionId: string) =>
  new KaiwuError('approval_stale', `The grant that covered ${actionId} when it was read back is gone.`, {
    hint: 'Nothing was done. Call the action again: a person is asked for approval.',
  });

export const notYours = (artifactId: string) =>
  new KaiwuError('forbidden', `Approval ${artifactId} was asked for by someone else.`, {
    hint: 'Only its requester or a person can withdraw it.',
  });

export const tooManyPending = (pending: number, limit: number) =>
  new KaiwuError(
    'rate_limited',
    `${pending} requests of this caller wait for a decision already; ${limit} are allowed.`,
    {
      hint: 'Wait for decisions, or withdraw requests that are no longer needed. A person can raise maxPendingApprovals in the policy.',
      details: { pending, limit },
    },
  );

export const beyondScope = ({ artifactId, actionId }: Approval) =>
  new KaiwuError('forbidden', `Approval ${artifactId} is for ${actionId}, which this token does not reach.`, {
    hint: 'A token decides only what it could do itself; use one that reaches further.',
  });

/** What waits for a person is stored, and a secret is stored nowhere. @throws unsupported naming the fields */
export function requireNoSecrets({ id, secrets = [] }: ActionData, input: Record<string, unknown>): void {
  const given = secrets.filter((name) => input[name] !== undefined);
  if (given.length === 0) return;
  throw new KaiwuError(
    'unsupported',
    `${id} would wait for a person here, and ${given.join(', ')} is secret: it cannot be kept until then.`,
    {
      hint: `Call it without ${given.join(', ')}, or from where the policy lets it run without asking. Nothing was done.`,
      details: { fields: given },
    },
  );
}
