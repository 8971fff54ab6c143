import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { SEARCH_MODES } from '../../src/core/ports/memory.ts';
import { filter, hit, itemColumns, memoryErrors, memoryLimit } from '../_memory.ts';
import { cursor, nextCursor } from '../_shapes.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.fetch',
  title: { en: 'Search the memory', 'zh-CN': '搜索记忆' },
  summary: 'Use to get the passages themselves that fit a query, with scores and where they come from.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  positionals: ['query'],
  columns: ['id', 'score', ...itemColumns.slice(1)],
  keywords: {
    en: ['find', 'lookup', 'passages', 'hits', 'semantic', 'retrieve'],
    'zh-CN': ['记忆', '搜索', '检索'],
  },
  examples: [{ title: 'By words', input: { query: 'release process', limit: 5 } }],
  errors: [...memoryErrors, 'unsupported', 'provider_failed'],
  input: z.object({
    query: z.string().trim().min(1).max(2000).describe('Words.'),
    mode: z
      .enum(SEARCH_MODES)
      .default('lexical')
      .describe('lexical (default), or hybrid where an endpoint for vectors is set.'),
    filter,
    limit: memoryLimit,
    cursor: cursor.optional(),
  }),
  output: z.object({ hits: z.array(hit).describe('Passages, best first.'), nextCursor }),
  async run({ input: { query, mode, filter, limit, cursor }, ports, signal }) {
    const { items, nextCursor } = await ports.memory.search(
      { text: query, mode, filter },
      { limit, cursor },
      signal,
    );
    return { hits: items, nextCursor };
  },
});
