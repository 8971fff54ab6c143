import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.model.set',
  title: { en: 'Set the model of a session', 'zh-CN': '设置会话模型' },
  summary: 'Use to switch the model that a session works with from its next turn on.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'modelId'],
  hints: {
    sessionId: sessionHint,
    modelId: {
      label: 'Model',
      widget: 'select',
      options: {
        action: 'agents.models.list',
        input: { sessionId: '$sessionId' },
        items: 'models',
        value: 'id',
        label: 'name',
      },
    },
  },
  keywords: {
    en: ['switch model', 'change model', 'llm', 'use opus', 'use gpt'],
    'zh-CN': ['切换模型', '更换模型', '模型'],
  },
  examples: [{ title: 'Another model', input: { sessionId: 'sess_123', modelId: 'demo-2' } }],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'machine_offline',
    'daemon_not_running',
    'agent_failed',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    modelId: z.string().min(1).max(200).describe('Model id, one that the session offers.'),
  }),
  output: sessionBrief,
  run: ({ input, caller, ports }) => ports.control.setModel(input.sessionId!, input.modelId, caller),
});
