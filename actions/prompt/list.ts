import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { RELATED } from '../_surfaces.ts';

export default defineAction({
  id: 'prompt.list',
  title: { en: 'List prompts', 'zh-CN': '列出提示词' },
  summary: 'Use to see the prompts that come with Kaiwu, for a host to offer to its user.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'prompts/list',
  columns: ['name', 'title', { label: 'what', of: ['description'], whole: true }],
  keywords: { en: ['templates', 'slash commands', 'prompt'], 'zh-CN': ['提示词', '模板'] },
  examples: [{ title: 'All of them', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    prompts: z
      .array(
        z.object({
          name: z.string().describe('Name.'),
          title: z.string().describe('Name for people.'),
          description: z.string().describe('What it does.'),
          arguments: z
            .array(
              z.object({
                name: z.string().describe('Name.'),
                description: z.string().describe('What it is.'),
              }),
            )
            .describe('What has to be given.'),
        }),
      )
      .describe('Prompts, by name.'),
  }),
  async run({ ports }) {
    const prompts = ports.texts.prompts();
    return {
      prompts: prompts.map(({ name, title, description, arguments: args }) => ({
        name,
        title,
        description,
        arguments: args,
      })),
    };
  },
});
