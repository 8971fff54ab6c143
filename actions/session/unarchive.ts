import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.unarchive',
  title: { en: 'Unarchive a session', 'zh-CN': '取消归档会话' },
  summary: 'Use to bring an archived session back into the lists and let it take messages again.',
  description: 'A worktree that went with it is made again by the next message, with its branch as it was.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['restore', 'bring back', 'reopen', 'undo archive'],
    'zh-CN': ['取消归档', '恢复会话'],
  },
  examples: [{ title: 'One session', input: { sessionId: 'sess_123' } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous'],
  input: z.object({ sessionId: sessionId.optional() }),
  output: sessionBrief,
  run: ({ input, ports }) => ports.sessions.setArchived(input.sessionId!, false),
});
