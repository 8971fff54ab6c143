import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { givenRules, preview, ruleChanges } from '../_governance.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.preview',
  title: { en: 'Preview a policy', 'zh-CN': '预览策略' },
  summary:
    'Use before changing the policy: what the change would have refused, asked or let run, by the calls of the last days.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  keywords: { en: ['dry run', 'what if', 'simulate', 'replay', 'impact'], 'zh-CN': ['预览', '模拟', '影响'] },
  examples: [
    {
      title: 'Asking before every archive',
      input: { rules: { 'session.archive': { mcp: { approval: true } } } },
    },
  ],
  errors: ['invalid_input'],
  input: z.object({
    rules: ruleChanges.optional(),
    document: z.object({ rules: givenRules }).optional().describe('A whole document in place of changes.'),
    days: z
      .number()
      .min(0.01)
      .max(90)
      .default(7)
      .describe('Days of the audit log to replay, up to 90. Default 7.'),
  }),
  output: preview,
  run: ({ input, ports }) => ports.previews.preview(input),
});
