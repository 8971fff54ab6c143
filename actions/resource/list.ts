import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { listResources } from '../_resources.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'resource.list',
  title: { en: 'List resources', 'zh-CN': '列出资源' },
  summary: 'Use to see what can be read by address: texts about Kaiwu, sub-agents, the catalog, sessions.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'resources/list',
  columns: ['uri', 'title', { label: 'what', of: ['description'], whole: true }],
  keywords: { en: ['uri', 'address', 'prompts', 'texts', 'read'], 'zh-CN': ['资源', '地址', '提示词'] },
  examples: [{ title: 'All of them', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    resources: z
      .array(
        z.object({
          uri: z.string().describe('Address.'),
          name: z.string().describe('Short name.'),
          title: z.string().describe('Name for people.'),
          description: z.string().optional().describe('What it is.'),
          mimeType: z.string().describe('Kind of text.'),
        }),
      )
      .describe('Texts, sub-agents, the catalog, then the newest sessions.'),
  }),
  run: async ({ caller, ports, signal }) => ({ resources: await listResources({ caller, ports, signal }) }),
});
