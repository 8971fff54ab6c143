import * as z from 'zod';
import { toRemoval } from '../../src/core/policy-path.ts';
import { defineAction } from '../../src/core/spec.ts';
import { policyDocument } from '../_governance.ts';
import { GOVERNANCE } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.unset',
  title: { en: 'Remove a rule', 'zh-CN': '删除策略规则' },
  summary: 'Use to take a rule of the policy back, so that the default counts again.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: GOVERNANCE,
  approvals: 'default',
  session: 'none',
  positionals: ['path'],
  keywords: { en: ['reset', 'default', 'delete rule', 'undo'], 'zh-CN': ['恢复默认', '删除规则'] },
  examples: [{ title: 'Back to the default', input: { path: 'session.archive.mcp' } }],
  errors: ['conflict', 'invalid_input'],
  input: z.object({
    path: z
      .string()
      .min(1)
      .max(200)
      .describe(
        'Rule: an action or family, if wanted with surface and setting: session.archive.mcp.approval.',
      ),
    version: z
      .int()
      .min(0)
      .optional()
      .describe('Version that you saw: refused if another change came between.'),
  }),
  output: policyDocument,
  async run({ input: { path, version }, caller, ports }) {
    const { rules } = await ports.policies.get();
    return ports.policies.set(toRemoval(path, rules), version, caller.client);
  },
});
