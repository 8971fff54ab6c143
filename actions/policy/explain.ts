import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { policyAnswer, surface } from '../_governance.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.explain',
  title: { en: 'Explain the policy of an action', 'zh-CN': '解释策略' },
  summary:
    'Use to learn whether an action would run, ask or be refused on a surface, and which rule says so.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  positionals: ['actionId', 'surface'],
  columns: [
    'surface',
    'outcome',
    { label: 'enabled', of: ['enabled.value'] },
    { label: 'rule', of: ['enabled.from'] },
    { label: 'asks', of: ['approval.value'] },
    { label: 'rule', of: ['approval.from'] },
    { label: 'offered', of: ['exposure.value'] },
    { label: 'rule', of: ['exposure.from'] },
  ],
  keywords: {
    en: ['why', 'allowed', 'refused', 'blocked', 'which rule', 'reason'],
    'zh-CN': ['为什么', '解释', '被拒绝', '原因'],
  },
  examples: [{ title: 'On every surface', input: { actionId: 'session.archive' } }],
  errors: ['unknown_action', 'invalid_input'],
  input: z.object({
    actionId: z.string().min(1).max(120).describe('Action id, tool name or alias.'),
    surface: surface.optional(),
    input: z.looseObject({}).optional().describe('Input of a call, to learn which grants would cover it.'),
  }),
  output: z.object({
    actionId: z.string().describe('Action id.'),
    answers: z.array(policyAnswer).describe('What the policy says, for each surface that was asked.'),
    grants: z
      .array(
        z.object({
          grantId: z.string().describe('Grant that is in force for the caller.'),
          covers: z.boolean().describe('Whether it would let this call run without asking.'),
          reason: z.string().optional().describe('Why it would not.'),
        }),
      )
      .optional()
      .describe('Grants for this action, where an input was given.'),
  }),
  run: ({ input, caller, ports }) => ports.discovery.explain(input, caller),
});
