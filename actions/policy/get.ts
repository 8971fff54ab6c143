import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { policyDocument } from '../_governance.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'policy.get',
  title: { en: 'Get the policy', 'zh-CN': '查看策略' },
  summary: 'Use to see the rules of the account: what may run where, and what asks first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  commands: ['policy show'],
  keywords: {
    en: ['rules', 'settings', 'permissions', 'allowed', 'configuration', 'show'],
    'zh-CN': ['策略', '规则', '设置'],
  },
  examples: [{ title: 'The whole document', input: {} }],
  errors: [],
  input: z.object({}),
  output: policyDocument,
  run: ({ ports }) => ports.policies.get(),
});
