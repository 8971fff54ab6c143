import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'session.archive',
  title: { en: 'Archive a session', 'zh-CN': '归档会话' },
  summary:
    'Use to put a finished session out of the lists. Its transcript stays; it takes no messages until unarchived.',
  description:
    'Ends its agent, and removes a worktree that was made for it if nothing in it would be lost. A machine that is away is told when it links again.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['hide', 'put away', 'clean up', 'done with', 'remove from list'],
    'zh-CN': ['归档', '收起', '清理会话'],
  },
  examples: [{ title: 'One session', input: { sessionId: 'sess_123' } }],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous'],
  input: z.object({ sessionId: sessionId.optional() }),
  output: sessionBrief.extend({
    worktree: z
      .enum(['none', 'removed', 'kept', 'later'])
      .describe('What became of its worktree; later: its machine is away.'),
    worktreeReason: z.string().optional().describe('Why it was kept, or is not removed yet.'),
  }),
  async run({ input, caller, ports }) {
    const { session, worktree, reason } = await ports.control.archive(input.sessionId!, caller);
    return { ...session, worktree, ...(reason === undefined ? {} : { worktreeReason: reason }) };
  },
});
