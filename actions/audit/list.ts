import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { surface } from '../_governance.ts';
import { cursor, limit, nextCursor } from '../_shapes.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'audit.list',
  title: { en: 'List the audit log', 'zh-CN': '查看审计日志' },
  summary: 'Use to see who called what, from where, and how it ended. Newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: [
    'at',
    'client',
    { label: 'action', of: ['actionId'] },
    { label: 'outcome', of: ['code', 'outcome'] },
    { label: 'session', of: ['sessionId'] },
  ],
  keywords: {
    en: ['history', 'who did', 'log', 'trail', 'accountability', 'calls'],
    'zh-CN': ['审计', '日志', '谁做了什么', '调用记录'],
  },
  examples: [
    { title: 'What failed', input: { outcome: 'error', limit: 20 } },
    { title: 'What was changed', input: { withoutReads: true, limit: 20 } },
  ],
  errors: ['invalid_input'],
  input: z.object({
    surface: surface.optional(),
    client: z.string().optional().describe('Only calls of this client, for example mcp:claude-code.'),
    actionId: z.string().optional().describe('Only calls of this action.'),
    outcome: z.enum(['ok', 'approval_required', 'error']).optional().describe('Only calls that ended so.'),
    code: z.string().max(60).optional().describe('Only calls that ended in this error code.'),
    withoutReads: z
      .boolean()
      .default(false)
      .describe('Leave out calls that only read, unless they failed. Most calls only look.'),
    sessionId: z.string().min(1).max(64).optional().describe('Only calls on this session. Default: all.'),
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('Only calls at or after this time, RFC 3339.'),
    until: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('Only calls at or before this time, RFC 3339.'),
    order: z.enum(['newest', 'oldest']).default('newest').describe('Which come first. Default newest.'),
    limit: limit(50),
    cursor: cursor.optional(),
  }),
  output: z.object({
    rows: z
      .array(
        z.object({
          auditId: z.int().describe('Number of the row.'),
          at: z.string().describe('When, RFC 3339.'),
          surface: z.string().describe('Where the call came from.'),
          client: z.string().describe('Client as it named itself.'),
          tokenId: z.string().describe('Token that authenticated it.'),
          deviceId: z.string().optional().describe('Device of the token.'),
          sessionId: z.string().optional().describe('Session that it worked on.'),
          actionId: z.string().describe('Action.'),
          calledAs: z.string().optional().describe('Name that was called, where not the id.'),
          effect: z.string().optional().describe('read, write or destructive.'),
          input: z.looseObject({}).describe('Input, without secrets.'),
          inputDigest: z.string().describe('SHA-256 of action and input.'),
          outcome: z.string().describe('ok, approval_required or error.'),
          code: z.string().optional().describe('Error code.'),
          durationMs: z.number().describe('How long it took, milliseconds.'),
          approvalId: z.string().optional().describe('Approval that was filed or carried out.'),
          grantId: z.string().optional().describe('Grant that let it run without asking.'),
          hash: z
            .string()
            .describe('Digest of this row and the one before it: the chain that verify checks.'),
        }),
      )
      .describe('Calls, in the order that was asked for.'),
    nextCursor,
  }),
  async run({ input: { limit, cursor, ...filter }, ports }) {
    const { items, nextCursor } = await ports.audit.list(filter, { limit, cursor });
    return { rows: items, nextCursor };
  },
});
