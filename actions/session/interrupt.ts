import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { sessionHint, sessionId } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.interrupt',
  title: { en: 'Interrupt the running turn', 'zh-CN': '中断当前回合' },
  summary:
    'Use to stop what a session is doing now and keep the session; the next message starts a new turn.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['cancel', 'abort', 'break', 'halt turn', 'stop generating'],
    'zh-CN': ['中断', '打断', '取消当前任务'],
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
  output: z.object({
    sessionId: z.string().describe('Full session id.'),
    interrupted: z.boolean().describe('Whether a turn was running.'),
  }),
  async run({ input, caller, ports }) {
    const { interrupted } = await ports.control.interrupt(input.sessionId!, caller);
    return { sessionId: input.sessionId!, interrupted };
  },
});
