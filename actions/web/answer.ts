import * as z from 'zod';
import { ANSWER_DEPTHS } from '../../src/core/ports/web.ts';
import { defineAction } from '../../src/core/spec.ts';
import { answered, providerId, secondsFor, webErrors } from '../_web.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'web.answer',
  title: { en: 'Answer from the web', 'zh-CN': '从网络获取答案' },
  summary: 'Use to get an answer with citations that a model wrote from the web.',
  effect: 'read',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  needs: 'web_answer',
  positionals: ['question'],
  keywords: {
    en: ['internet', 'research', 'ask', 'current', 'citations'],
    'zh-CN': ['网络', '回答', '研究', '引用'],
  },
  examples: [{ title: 'A fact', input: { question: 'Which SQLite version is current?' } }],
  errors: webErrors,
  input: z.object({
    question: z.string().trim().min(1).max(2000).describe('Question.'),
    depth: z.enum(ANSWER_DEPTHS).default('quick').describe('quick or deep. Default quick.'),
    provider: providerId.optional().describe('Only this one, with no other in its place.'),
  }),
  output: answered,
  run: ({ input: { provider, ...question }, caller, ports, signal }) =>
    ports.web.answer({ ...question, pinned: provider, seconds: secondsFor(caller) }, signal),
});
