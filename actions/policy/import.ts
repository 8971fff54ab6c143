import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { givenRules, policyDocument, policySettings, preview } from '../_governance.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.import',
  title: { en: 'Replace the policy', 'zh-CN': '导入策略' },
  summary: 'Use to put a policy from version control in force. Refused if it was made from an older version.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  keywords: {
    en: ['restore', 'upload', 'apply file', 'replace', 'version control'],
    'zh-CN': ['导入', '恢复策略'],
  },
  examples: [{ title: 'An empty policy', input: { document: { version: 0, rules: {} } } }],
  errors: ['conflict', 'confirmation_required', 'invalid_input'],
  input: z.object({
    document: z
      .object({
        version: z.int().min(0).describe('Version that it was made from.'),
        rules: givenRules,
        settings: policySettings.optional(),
      })
      .describe('The whole document.'),
    confirmUnattended: z
      .boolean()
      .default(false)
      .describe(
        'Yes to writes that would now run unattended. Default false: they are named and nothing is changed.',
      ),
    days: z
      .number()
      .min(0.01)
      .max(90)
      .default(7)
      .describe('Days of the audit log by which that is judged. Default 7.'),
  }),
  output: z.object({ ...policyDocument.shape, preview }),
  run: ({ input, caller, ports }) => ports.previews.replace(input, caller),
});
