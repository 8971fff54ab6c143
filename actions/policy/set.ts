import * as z from 'zod';
import { toPolicyPatch } from '../../src/core/policy.ts';
import { defineAction } from '../../src/core/spec.ts';
import { rules, surfaceChange } from '../_shapes.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.set',
  title: { en: 'Change the policy', 'zh-CN': '修改策略' },
  summary: 'Use to enable, disable, gate or expose actions on a surface. Merges; null for a rule removes it.',

  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',

  keywords: {
    en: ['configure', 'enable', 'disable', 'require approval', 'gate', 'expose', 'allow', 'deny', 'rule'],
    'zh-CN': ['修改策略', '启用', '禁用', '需要审批', '公开'],
  },
  examples: [
    {
      title: 'Ask before archiving from a host',
      input: { rules: { 'session.archive': { mcp: { approval: true } } } },
    },
  ],
  errors: ['conflict', 'invalid_input'],

  input: z.object({
    rules: z
      .record(z.string().min(1).max(120), z.record(z.string(), surfaceChange.nullable()).nullable())
      .describe('Rules by action id or family (session.*), then by surface; null removes a rule.'),
    version: z
      .int()
      .min(0)
      .optional()
      .describe('Version that you saw: refused if another change came between.'),
  }),
  output: z.object({ version: z.int().describe('New version of the document.'), rules }),
  run: ({ input, caller, ports }) =>
    ports.policies.set(toPolicyPatch(input.rules), input.version, caller.client),
});
