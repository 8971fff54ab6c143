import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { item, learningKind, memoryErrors, scope, tags } from '../_memory.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.learn',
  title: { en: 'Remember something', 'zh-CN': '记住' },
  summary: 'Use to remember a preference, fact, procedure or correction. It adds, and overwrites nothing.',
  effect: 'write',
  idempotent: false,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  // What is forgotten must not live on in the audit.
  transient: ['text', 'item'],
  positionals: ['text'],
  keywords: {
    en: ['remember', 'note', 'store', 'save', 'preference', 'lesson'],
    'zh-CN': ['记住', '学习', '偏好', '笔记'],
  },
  examples: [{ title: 'A preference', input: { text: 'We use vitest.', kind: 'preference' } }],
  errors: memoryErrors,
  input: z.object({
    text: z.string().trim().min(1).max(8000).describe('What to remember, in words that stand by themselves.'),
    kind: learningKind
      .default('fact')
      .describe('preference, fact (default), procedure, correction or other.'),
    confidence: z.number().min(0).max(1).optional().describe('0 to 1.'),
    tags,
    scope: scope.default({}),
  }),
  output: z.object({ item: item.describe('As it is stored.') }),
  async run({ input, caller, ports }) {
    return { item: await ports.memory.learn(input, caller) };
  },
});
