import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId, sessionTitle } from '../../_shapes.ts';
import { EVERYDAY } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.title.set',
  title: { en: 'Set the title of a session', 'zh-CN': '设置会话标题' },
  summary: 'Use to rename a session. A title set here is never replaced by the agent.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'title'],
  hints: { sessionId: sessionHint },
  keywords: {
    en: ['rename', 'name', 'label', 'change title', 'heading'],
    'zh-CN': ['重命名', '改名', '修改标题', '命名'],
  },
  examples: [{ title: 'Rename a session', input: { sessionId: 'sess_123', title: 'Fix flaky tests' } }],
  aliases: [
    {
      name: 'change_title',
      tool: true,
      directOn: ['agent'],
      omit: ['sessionId'],
      summary: 'Use to rename the session that this server was started for.',
    },
  ],
  errors: ['session_not_selected', 'session_not_found', 'session_ambiguous'],
  input: z.object({
    sessionId: sessionId.optional(),
    title: sessionTitle.describe('New title, 1 to 200 characters.'),
  }),
  output: sessionBrief,
  run: ({ input, ports }) => ports.sessions.setTitle(input.sessionId!, input.title),
});
