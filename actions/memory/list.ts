import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { filter, item, itemColumns, memoryErrors, memoryLimit } from '../_memory.ts';
import { cursor, nextCursor } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.list',
  title: { en: 'List the memory', 'zh-CN': '列出记忆' },
  summary: 'Use to page through what is remembered, newest first.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  columns: itemColumns,
  keywords: { en: ['browse', 'items', 'remembered', 'learnings'], 'zh-CN': ['记忆', '列表', '浏览'] },
  examples: [{ title: 'Learnings', input: { filter: { kinds: ['learning'] } } }],
  errors: memoryErrors,
  input: z.object({ filter, limit: memoryLimit, cursor: cursor.optional() }),
  output: z.object({ items: z.array(item).describe('Items, newest first.'), nextCursor }),
  async run({ input: { filter, limit, cursor }, ports }) {
    return ports.memory.list(filter, { limit, cursor });
  },
});
