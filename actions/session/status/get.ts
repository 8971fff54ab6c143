import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { session, sessionHint, sessionId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.status.get',
  title: { en: 'Get the status of a session', 'zh-CN': '查看会话状态' },
  summary:
    'Use to see what one session is doing: status, mode, model, open permission request, why it stopped.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['state', 'progress', 'is it done', 'running', 'idle', 'waiting', 'details', 'inspect'],
    'zh-CN': ['状态', '进度', '完成了吗', '详情'],
  },
  examples: [{ title: 'One session', input: { sessionId: 'sess_123' } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous'],
  input: z.object({ sessionId: sessionId.optional() }),
  output: session,
  run: ({ input, ports }) => ports.sessions.get(input.sessionId!),
});
