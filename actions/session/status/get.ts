import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { reachable } from '../../_lineage.ts';
import { lineage, session, sessionHint, sessionId } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.status.get',
  title: { en: 'Get the status of a session', 'zh-CN': '查看会话状态' },
  summary:
    'Use to see what one session is doing: status, mode, model, what it asks, why it stopped, who started it.',
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
  output: session.extend({
    lineage,
    children: z
      .array(session.pick({ sessionId: true, title: true, status: true }))
      .describe('Sessions that it started itself and that are not archived, the newest 50.'),
  }),
  async run({ input, caller, ports }) {
    const sessionId = input.sessionId!;
    const [session, lineage, children] = await Promise.all([
      ports.sessions.get(sessionId),
      ports.sessions.lineage(sessionId),
      ports.sessions.list({ parentSessionId: sessionId }, { limit: 50 }),
    ]);
    return { ...session, lineage: reachable(lineage, caller), children: children.items };
  },
});
