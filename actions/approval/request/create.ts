import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { approval } from '../../_governance.ts';
import { APPROVALS } from '../../_surfaces.ts';

export default defineAction({
  id: 'approval.request.create',
  title: { en: 'Ask for approval', 'zh-CN': '创建审批请求' },
  summary: 'Use to ask a person to let an action run, whatever the policy says of it.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: APPROVALS,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['actionId'],
  keywords: {
    en: ['request permission', 'ask a human', 'review first', 'inbox', 'propose'],
    'zh-CN': ['申请审批', '请求批准', '人工审核'],
  },
  examples: [
    {
      title: 'Ask to archive a session',
      input: { actionId: 'session.archive', input: { sessionId: 'sess_123' }, reason: 'Work is merged' },
    },
  ],
  errors: ['unknown_action', 'action_disabled', 'invalid_input', 'session_not_found'],
  input: z.object({
    actionId: z.string().min(1).max(120).describe('Action that should run.'),
    input: z.looseObject({}).default({}).describe('Its input.'),
    reason: z.string().max(2000).optional().describe('Why, for the person who decides.'),
  }),
  output: approval,
  run: ({ input, caller, ports }) => ports.approvals.create(input, caller),
});
