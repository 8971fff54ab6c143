import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { policyAnswer, surface } from '../_shapes.ts';
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
  }),
  output: z.object({
    actionId: z.string().describe('Action id.'),
    answers: z.array(policyAnswer).describe('What the policy says, for each surface that was asked.'),
  }),
  run: ({ input, caller, ports }) => ports.discovery.explain(input.actionId, input.surface, caller),
});
