import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { memoryErrors } from '../_memory.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'memory.forget',
  title: { en: 'Forget for good', 'zh-CN': '永久忘记' },
  summary: 'Use to delete remembered items by id, for good.',
  effect: 'destructive',
  idempotent: true,
  openWorld: false,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  positionals: ['ids'],
  keywords: { en: ['delete', 'erase', 'remove', 'privacy'], 'zh-CN': ['忘记', '删除', '清除'] },
  examples: [{ title: 'One', input: { ids: ['mem_123'] } }],
  errors: memoryErrors,
  input: z.object({ ids: z.array(z.string().min(1).max(64)).min(1).max(100).describe('Ids, 1 to 100.') }),
  output: z.object({
    forgotten: z.array(z.string()).describe('Deleted now.'),
    missing: z.array(z.string()).describe('Not there.'),
  }),
  run: ({ input, ports }) => ports.memory.forget([...new Set(input.ids)]),
});
