import * as z from 'zod';
import { QUESTION_ANSWERS } from '../../../src/core/session.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { sessionBrief, sessionHint, sessionId } from '../../_shapes.ts';
import { DECISIONS } from '../../_surfaces.ts';

export default defineAction({
  id: 'session.user_action.answer',
  title: { en: "Answer an agent's question", 'zh-CN': '回答智能体的问题' },
  summary: 'Use to answer what a waiting agent asks, to say no, or to leave it open.',
  description: 'The form of the answer is in the question: see session.status.get or inbox.list.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: DECISIONS,
  approvals: 'never',
  session: { need: 'required', field: 'sessionId' },
  positionals: ['sessionId', 'answer'],
  hints: { sessionId: sessionHint, content: { label: 'Answer', widget: 'json' } },
  keywords: {
    en: ['reply', 'respond', 'form', 'question', 'choose', 'decline', 'elicitation', 'waiting'],
    'zh-CN': ['回答', '提问', '表单', '选择', '拒绝'],
  },
  examples: [
    {
      title: 'Fill its form in',
      input: { sessionId: 'sess_123', answer: 'accept', content: { answer: 'blue' } },
    },
    { title: 'Say no', input: { sessionId: 'sess_123', answer: 'decline' } },
  ],
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'conflict',
    'machine_offline',
    'daemon_not_running',
    'permission_escalation_denied',
    'invalid_input',
  ],
  input: z.object({
    sessionId: sessionId.optional(),
    requestId: z.string().optional().describe('Id of the question. Default: the one that is open.'),
    answer: z
      .enum(QUESTION_ANSWERS)
      .describe('accept (with content), decline (no) or cancel (leave it open what you want).'),
    content: z
      .looseObject({})
      .optional()
      .describe("Values of the question's fields by their names; with accept only."),
  }),
  output: sessionBrief,
  run: ({ input: { sessionId, ...answer }, caller, ports }) =>
    ports.control.answerQuestion(sessionId!, answer, caller),
});
