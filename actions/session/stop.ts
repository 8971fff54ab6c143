import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.stop',
  title: { en: 'Stop a session', 'zh-CN': '停止会话' },
  summary: "Use to end a session's agent process and cancel what is queued. A later message starts it again.",
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['end', 'kill', 'terminate', 'shut down', 'quit', 'close'],
    'zh-CN': ['停止', '结束', '关闭会话', '终止'],
  },
  examples: [{ title: 'One session', input: { sessionId: 'sess_123' } }],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'machine_offline',
    'daemon_not_running',
  ],
  input: z.object({ sessionId: sessionId.optional() }),
  output: sessionBrief,
  run: ({ input, caller, ports }) => ports.control.stop(input.sessionId!, caller),
});
