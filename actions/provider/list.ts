import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { shownProvider } from '../_web.ts';
import { INSIGHT } from '../_surfaces.ts';

export default defineAction({
  id: 'provider.list',
  title: { en: 'List web providers', 'zh-CN': '列出网络提供方' },
  summary:
    'Use to see which services search the web or answer from it, in the order in which they are asked.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  commands: ['providers list'],
  columns: ['id', 'kind', 'base_url', 'model', 'has_key', 'source'],
  keywords: {
    en: ['providers', 'search engine', 'brave', 'tavily', 'searxng'],
    'zh-CN': ['提供方', '搜索引擎'],
  },
  examples: [{ title: 'All', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ providers: z.array(shownProvider).describe('Providers.') }),
  run: async ({ ports }) => ({ providers: await ports.web.providers() }),
});
