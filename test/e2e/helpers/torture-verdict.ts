import type { Approval, ApprovalStatus } from '../../../src/core/approval.ts';
import type { Decided } from './torture-decider.ts';

/** A request as its requester remembers it. */
export interface Filed {
  name: string;
  artifactId: string;
  /** The requester took it back, and was told that it is canceled. */
  withdrawn?: boolean;
}

/** How often the effect may be there, by state. */
const EFFECTS: Record<ApprovalStatus, readonly number[]> = {
  pending: [],
  approved: [],
  executing: [],
  succeeded: [1],
  failed: [0],
  unknown: [0, 1],
  denied: [0],
  expired: [0],
  canceled: [0],
};

/** States that an answer stays true of, by the answer. */
const KEEPS: Record<string, readonly ApprovalStatus[]> = {
  approved: ['succeeded', 'failed', 'unknown'],
  executing: ['succeeded', 'failed', 'unknown'],
};

export interface Verdict {
  lost: string[];
  doubled: string[];
}

/** Holds what is there against what requesters and deciders were told. */
export function judge(truth: {
  filed: readonly Filed[];
  decided: readonly Decided[];
  approvals: readonly Approval[];
  /** Effects by name. */
  effects: ReadonlyMap<string, number>;
  /** Runs in the audit log by approval. */
  runs: ReadonlyMap<string, number>;
}): Verdict {
  const { filed, decided, approvals, effects, runs } = truth;
  const byId = new Map(approvals.map((approval) => [approval.artifactId, approval]));
  const lost: string[] = [];
  const doubled: string[] = [];

  for (const { name, artifactId, withdrawn } of filed) {
    const approval = byId.get(artifactId);
    if (approval === undefined) {
      lost.push(`${name}: its approval ${artifactId} is gone`);
      continue;
    }
    const { status } = approval;
    const found = effects.get(name) ?? 0;
    const told = `${name}: ${status}, done ${found} times`;
    const allowed = EFFECTS[status];
    if (allowed.length === 0 || found < Math.min(...allowed)) lost.push(told);
    else if (found > Math.max(...allowed)) doubled.push(told);
    if (withdrawn && status !== 'canceled') lost.push(`${name}: withdrawn, yet ${status}`);
    const ran = runs.get(artifactId) ?? 0;
    if (ran > 1) doubled.push(`${name}: run ${ran} times by the audit log`);
    // What was cut off has no row; what came to its end has one.
    if (status === 'succeeded' && ran === 0) lost.push(`${name}: succeeded without a row in the audit log`);
  }

  const asked = new Set(filed.map(({ artifactId }) => artifactId));
  for (const { artifactId, summary } of approvals) {
    if (!asked.has(artifactId)) doubled.push(`${summary}: asked for again as ${artifactId}`);
  }

  const executors = new Map<string, number>();
  for (const { artifactId, executed, answer } of decided) {
    if (executed) executors.set(artifactId, (executors.get(artifactId) ?? 0) + 1);
    const status = byId.get(artifactId)?.status;
    if (executed === undefined || status === undefined) continue;
    if (!(KEEPS[answer] ?? [answer]).includes(status)) {
      lost.push(`${artifactId}: a decider was told ${answer}, now it is ${status}`);
    }
  }
  for (const [artifactId, count] of executors) {
    if (count > 1) doubled.push(`${artifactId}: ${count} deciders were told that they ran it`);
  }
  return { lost, doubled };
}
