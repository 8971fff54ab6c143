import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { approval, artifactId } from '../../_governance.ts';
import { DECISIONS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.request.decide',
  title: { en: 'Decide an approval request', 'zh-CN': '决定审批请求' },
  summary:
    'Use to approve or deny a request. Approving runs the very object that was reviewed and answers with its outcome.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: DECISIONS,
  approvals: 'never',
  session: 'none',
  positionals: ['artifactId', 'decision'],
  headline: {
    by: 'approval.status',
    texts: {
      denied: 'Denied: {approval.summary}',
      succeeded: 'Approved, and it ran: {approval.summary}',
      failed: 'Approved, but it failed: {approval.summary}',
      unknown: 'Approved, but whether it ran to its end is not known: {approval.summary}',
      executing: 'Approved, and it runs: {approval.summary}',
      approved: 'Approved: {approval.summary}',
    },
  },
  keywords: {
    en: ['approve', 'deny', 'accept', 'reject', 'confirm', 'sign off'],
    'zh-CN': ['批准', '拒绝', '审批', '同意', '决定'],
  },
  examples: [
    { title: 'Approve', input: { artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6', decision: 'approve' } },
  ],
  errors: [
    'approval_not_found',
    'approval_already_decided',
    'approval_expired',
    'approval_stale',
    'self_approval_forbidden',
    'permission_escalation_denied',
  ],
  input: z.object({
    artifactId,
    decision: z.enum(['approve', 'deny']).describe('approve runs the action; deny ends the request.'),
    reason: z.string().max(2000).optional().describe('Why; the requester sees it.'),
  }),
  output: z.object({
    approval: approval.omit({ result: true }).describe('The request as it is recorded after the decision.'),
    executed: z.boolean().describe('Whether this decision ran the action.'),
    result: z
      .looseObject({})
      .optional()
      .describe('Envelope of the execution, of this decision or an earlier one.'),
  }),
  async run({ input: { artifactId, decision, reason }, caller, ports }) {
    const { approval, result } = await ports.approvals.decide(artifactId, decision, reason, caller);
    const outcome = result ?? approval.result;
    return {
      approval,
      executed: result !== undefined,
      ...(outcome === undefined ? {} : { result: outcome }),
    };
  },
});
