import * as z from 'zod';
import { toPolicyChange } from '../../src/core/policy-path.ts';
import { defineAction } from '../../src/core/spec.ts';
import { policyDocument, policySettings, ruleChanges } from '../_governance.ts';
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
  positionals: ['path', 'value'],
  keywords: {
    en: ['configure', 'enable', 'disable', 'require approval', 'gate', 'expose', 'allow', 'deny', 'rule'],
    'zh-CN': ['修改策略', '启用', '禁用', '需要审批', '公开'],
  },
  examples: [
    { title: 'Hosts ask before archiving', input: { path: 'session.archive.mcp', value: 'ask' } },
    {
      title: 'Ask before archiving from a host',
      input: { rules: { 'session.archive': { mcp: { approval: true } } } },
    },
  ],
  errors: ['conflict', 'invalid_input'],
  input: z.object({
    path: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('One rule, in place of rules: action or family, then surface: session.archive.mcp.'),
    value: z
      .string()
      .max(40)
      .optional()
      .describe('What path shall be: allow, deny, ask, run, direct or discoverable.'),
    rules: ruleChanges.optional(),
    settings: policySettings.optional(),
    version: z
      .int()
      .min(0)
      .optional()
      .describe('Version that you saw: refused if another change came between.'),
  }),
  output: policyDocument,
  async run({ input: { version, settings, ...change }, caller, ports }) {
    const patch = toPolicyChange(change);
    ports.discovery.requireRules(Object.keys(patch).filter((key) => patch[key] !== null));
    return ports.policies.set(patch, version, caller.client, settings);
  },
});
