import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { waitSeconds } from '../../../src/core/wait.ts';
import { sessionBrief, sessionHint, sessionId, timeoutSeconds } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.wait.idle',
  title: { en: 'Wait until a session is idle', 'zh-CN': '等待会话空闲' },
  summary: 'Use to wait until nothing runs and nothing is queued in a session, without sending anything.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['until done', 'finish', 'complete', 'block', 'ready', 'watch'],
    'zh-CN': ['等待', '直到完成', '空闲', '结束'],
  },
  examples: [{ title: 'Wait a minute at most', input: { sessionId: 'sess_123', timeoutSeconds: 60 } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous', 'canceled'],
  input: z.object({ sessionId: sessionId.optional(), timeoutSeconds: timeoutSeconds.optional() }),
  output: z.object({
    ...sessionBrief.shape,
    idle: z.boolean().describe('Whether the session is idle now.'),
    timedOut: z.boolean().optional().describe('The wait ended before the session was idle.'),
  }),
  async run({ input, caller, ports, signal }) {
    const seconds = waitSeconds(input.timeoutSeconds, caller);
    const { session, idle } = await ports.messages.waitIdle(input.sessionId!, seconds, signal);
    return idle ? { ...session, idle } : { ...session, idle, timedOut: true };
  },
});
