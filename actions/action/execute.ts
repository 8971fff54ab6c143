import * as z from 'zod';

import { defineAction, forwarded } from '../../src/core/spec.ts';
import { DISCOVERY } from '../_surfaces.ts';

export default defineAction({
  id: 'action.execute',
  title: { en: 'Execute an action', 'zh-CN': '执行操作' },
  summary: 'Use to call any action by its id, with or without a tool of its own.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: DISCOVERY,
  approvals: 'never',
  session: 'none',
  positionals: ['actionId'],
  keywords: { en: ['run', 'call', 'invoke', 'do', 'perform'], 'zh-CN': ['执行', '调用', '运行'] },
  examples: [
    {
      title: 'Rename a session',
      input: { actionId: 'session.title.set', input: { sessionId: 'sess_123', title: 'Fix flaky tests' } },
    },
  ],
  errors: ['unknown_action', 'action_disabled', 'invalid_input'],
  forward: { action: '{actionId}', inputField: 'input' },
  commands: ['action exec'],
  input: z.object({
    actionId: z.string().min(1).max(120).describe('Action id, for example session.title.set.'),
    input: z.looseObject({}).default({}).describe('Its input, as action_spec_get describes it.'),
  }),
  output: z.looseObject({}).describe('The output of the action that was called.'),
  run: forwarded,
});
