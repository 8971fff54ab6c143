import * as z from 'zod';
import { KaiwuError } from '../../src/core/errors.ts';
import { invalidInput } from '../../src/core/input.ts';
import { nearest } from '../../src/core/nearest.ts';
import { defineAction } from '../../src/core/spec.ts';
import { RELATED } from '../_surfaces.ts';

const MAX_ARGUMENT = 20_000;

export default defineAction({
  id: 'prompt.get',
  title: { en: 'Get a prompt', 'zh-CN': '获取提示词' },
  summary: 'Use to get a prompt with its arguments filled in.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'prompts/get',
  positionals: ['name'],
  hints: { name: { options: { action: 'prompt.list', items: 'prompts', value: 'name', label: 'title' } } },
  keywords: { en: ['template', 'slash command', 'fill in'], 'zh-CN': ['提示词', '模板', '填写'] },
  examples: [{ title: 'One without arguments', input: { name: 'triage_inbox' } }],
  errors: ['not_found', 'invalid_input'],
  input: z.object({
    name: z.string().min(1).max(100).describe('Name of the prompt.'),
    arguments: z
      .record(z.string(), z.string().max(MAX_ARGUMENT))
      .default({})
      .describe('Its arguments by name.'),
  }),
  output: z.object({
    title: z.string().describe('Name for people.'),
    description: z.string().describe('What it does.'),
    text: z.string().describe('The prompt, Markdown.'),
  }),
  async run({ input, ports }) {
    const prompts = ports.texts.prompts();
    const prompt = prompts.find(({ name }) => name === input.name);
    if (prompt === undefined) {
      const near = nearest(
        input.name,
        prompts.map(({ name }) => name),
        3,
      );
      throw new KaiwuError('not_found', `There is no prompt ${JSON.stringify(input.name)}.`, {
        hint: `There are: ${near.join(', ')}.`,
      });
    }
    const { title, description, text } = prompt;
    const missing = prompt.arguments.filter(({ name }) => !input.arguments[name]?.trim());
    if (missing.length > 0) {
      throw invalidInput(
        'prompt.get',
        missing.map((each) => ({
          path: `arguments.${each.name}`,
          message: `is required: ${each.description}`,
        })),
      );
    }
    const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => input.arguments[name] ?? '');
    return { title, description, text: filled };
  },
});
