import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { DISCOVERY } from '../../_surfaces.ts';

export default defineAction({
  id: 'action.options.resolve',
  title: { en: 'Resolve the options of a field', 'zh-CN': '解析字段选项' },
  summary: 'Use to get the valid values of one input field, for example agents, models or sessions.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: DISCOVERY,
  approvals: 'never',
  session: 'none',
  anySession: true,
  positionals: ['actionId', 'field'],
  columns: ['value', 'label'],
  keywords: {
    en: ['choices', 'autocomplete', 'values', 'dropdown', 'completion'],
    'zh-CN': ['选项', '可选值', '补全'],
  },
  examples: [{ title: 'Agents to start', input: { actionId: 'session.spawn_new', field: 'agentId' } }],
  errors: ['unknown_action', 'invalid_input'],
  input: z.object({
    actionId: z.string().min(1).max(120).describe('Action whose field it is.'),
    field: z.string().min(1).max(64).describe('Name of the field.'),
    input: z
      .looseObject({})
      .default({})
      .describe('Other fields as filled in so far; some options depend on them.'),
    query: z.string().max(200).optional().describe('Only options with this text.'),
    limit: z.int().min(1).max(200).default(50).describe('Most options, 1 to 200. Default 50.'),
  }),
  output: z.object({
    options: z
      .array(
        z.object({
          value: z.string().describe('Value to send.'),
          label: z.string().describe('Name for people.'),
        }),
      )
      .describe('Valid values.'),
  }),
  async run({ input, caller, ports, signal }) {
    return { options: await ports.discovery.options(input, caller, signal) };
  },
});
