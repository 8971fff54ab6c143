import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { approval, approvalStatus } from '../../_governance.ts';
import { withLineage } from '../../_lineage.ts';
import { cursor, limit, lineage, nextCursor } from '../../_shapes.ts';
import { APPROVALS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.request.list',
  title: { en: 'List approval requests', 'zh-CN': '列出审批请求' },
  summary: 'Use to see what waits for a decision, and what became of earlier requests. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: APPROVALS,
  approvals: 'never',
  session: 'none',
  columns: [
    { label: 'id', of: ['artifactId'] },
    'status',
    'summary',
    { label: 'by', of: ['requester.client'] },
    { label: 'asked', of: ['createdAt'] },
  ],
  keywords: {
    en: ['inbox', 'pending', 'waiting for me', 'to decide', 'queue'],
    'zh-CN': ['收件箱', '待审批', '审批列表', '等待'],
  },
  examples: [{ title: 'What waits', input: { status: 'pending' } }],
  errors: ['invalid_input'],
  input: z.object({
    status: approvalStatus.optional(),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({
    approvals: z.array(approval.extend({ lineage: lineage.optional() })).describe('Requests, newest first.'),
    nextCursor,
  }),
  async run({ input: { status, ...page }, caller, ports }) {
    const { items, nextCursor } = await ports.approvals.list({ status }, page);
    const approvals = await Promise.all(items.map((item) => withLineage(item, ports.sessions, caller)));
    return { approvals, nextCursor };
  },
});
