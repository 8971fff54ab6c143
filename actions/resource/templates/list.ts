import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { TEMPLATES } from '../../_resources.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'resource.templates.list',
  title: { en: 'List resource templates', 'zh-CN': '列出资源模板' },
  summary: 'Use to see how addresses of sessions and transcripts are made.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'resources/templates/list',
  columns: ['uriTemplate', 'title'],
  keywords: { en: ['uri', 'address', 'pattern', 'template'], 'zh-CN': ['资源', '模板', '地址'] },
  examples: [{ title: 'All of them', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    templates: z
      .array(
        z.object({
          uriTemplate: z.string().describe('RFC 6570.'),
          name: z.string().describe('Short name.'),
          title: z.string().describe('Name for people.'),
          description: z.string().describe('What it is.'),
          mimeType: z.string().describe('Kind of text.'),
        }),
      )
      .describe('Templates.'),
  }),
  run: async () => ({ templates: TEMPLATES }),
});
