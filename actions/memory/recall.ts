import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { filter, memoryErrors, memoryLimit } from '../_memory.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.recall',
  title: { en: 'Ask the memory', 'zh-CN': '询问记忆' },
  summary:
    'Use to get an answer with citations from what is remembered: preferences, decisions, documents, past work.',
  effect: 'read',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  positionals: ['question'],
  columns: ['id', 'kind', { label: 'text', of: ['text'], whole: true }],
  keywords: {
    en: ['remember', 'what do we know', 'preference', 'decided', 'history', 'knowledge'],
    'zh-CN': ['记忆', '回忆', '偏好', '知识'],
  },
  examples: [{ title: 'A preference', input: { question: 'Which test runner do we use?' } }],
  errors: memoryErrors,
  input: z.object({
    question: z.string().trim().min(1).max(2000).describe('Question.'),
    filter,
    limit: memoryLimit,
  }),
  output: z.object({
    answer: z.string().describe('Answer; numbers in brackets name citations by their place.'),
    by: z.enum(['model', 'extract']).describe('Written by the configured model, or the passages themselves.'),
    citations: z
      .array(
        z.object({
          id: z.string().describe('Item.'),
          text: z.string().describe('Passage.'),
          kind: z.string().describe('Kind.'),
          observed_at: z.string().describe('When it was so, RFC 3339.'),
          score: z.number().describe('Higher is better.'),
        }),
      )
      .describe('Passages that it rests on.'),
    note: z.string().optional().describe('Why the model did not write it.'),
  }),
  run: ({ input: { question, filter, limit }, ports, signal }) =>
    ports.memory.recall(question, filter, limit, signal),
});
