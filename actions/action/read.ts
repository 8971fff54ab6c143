import * as z from 'zod';

import { defineAction, forwarded } from '../../src/core/spec.ts';
import { DISCOVERY } from '../_surfaces.ts';

export default defineAction({
  id: 'action.read',
  title: { en: 'Execute a reading action', 'zh-CN': '执行只读操作' },
  summary:
    'Use to call any action that only reads, by its id. Refuses everything else, so it is safe to always allow.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: DISCOVERY,
  approvals: 'never',
  session: 'none',
  positionals: ['actionId'],
  keywords: { en: ['read only call', 'query', 'fetch', 'look up'], 'zh-CN': ['只读', '查询', '读取'] },
  examples: [{ title: 'List sessions', input: { actionId: 'session.list', input: {} } }],
  errors: ['unknown_action', 'action_disabled', 'invalid_input'],
  forward: { action: '{actionId}', inputField: 'input', readsOnly: true },
  input: z.object({
    actionId: z.string().min(1).max(120).describe('Action id, for example session.title.set.'),
    input: z.looseObject({}).default({}).describe('Its input, as action_spec_get describes it.'),
  }),
  output: z.looseObject({}).describe('The output of the action that was called.'),
  run: forwarded,
});
