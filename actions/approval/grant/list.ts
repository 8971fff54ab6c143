import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { grant } from '../../_governance.ts';
import { cursor, limit, nextCursor } from '../../_shapes.ts';
import { APPROVALS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.grant.list',
  title: { en: 'List grants', 'zh-CN': '列出授权' },
  summary:
    'Use to see which kinds of call run without asking because a person allowed the like. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: APPROVALS,
  approvals: 'never',
  session: 'none',
  columns: [
    { label: 'id', of: ['grantId'] },
    { label: 'action', of: ['actionId'] },
    'surface',
    { label: 'left', of: ['usesLeft'] },
    { label: 'until', of: ['revokedAt', 'expiresAt'] },
    { label: 'by', of: ['createdBy'] },
  ],
  keywords: {
    en: ['standing permissions', 'allowed', 'remembered', 'exceptions'],
    'zh-CN': ['授权列表', '已允许'],
  },
  examples: [{ title: 'What is in force', input: { active: true } }],
  errors: ['invalid_input'],
  input: z.object({
    actionId: z.string().max(120).optional().describe('Only grants of this action.'),
    active: z.boolean().optional().describe('Only grants that are in force (true) or no longer (false).'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({ grants: z.array(grant).describe('Grants, newest first.'), nextCursor }),
  async run({ input: { limit, cursor, ...filter }, ports }) {
    const { items, nextCursor } = await ports.grants.list(filter, { limit, cursor });
    return { grants: items, nextCursor };
  },
});
