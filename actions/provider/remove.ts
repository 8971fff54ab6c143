import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { providerId } from '../_web.ts';
import { PERSONAL } from '../_surfaces.ts';

export default defineAction({
  id: 'provider.remove',
  title: { en: 'Remove a web provider', 'zh-CN': '移除网络提供方' },
  summary: 'Use to take away a service that searches the web or answers from it, with its key.',
  effect: 'destructive',
  idempotent: false,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'never',
  session: 'none',
  commands: ['providers remove'],
  positionals: ['id'],
  keywords: { en: ['providers', 'delete', 'search engine', 'key'], 'zh-CN': ['提供方', '删除', '移除'] },
  examples: [{ title: 'One', input: { id: 'searxng' } }],
  errors: ['invalid_input', 'conflict'],
  input: z.object({ id: providerId }),
  output: z.object({ removed: z.string().describe('Provider.') }),
  run: async ({ input: { id }, ports }) => {
    await ports.web.remove(id);
    return { removed: id };
  },
});
