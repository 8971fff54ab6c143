import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { surface } from '../../_governance.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'core.tools.list',
  title: { en: 'List the tools of a surface', 'zh-CN': '列出入口的工具' },
  summary: 'Use to get the tools that models are given on a surface right now, as data.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  columns: ['name', 'actionId', { label: 'for', of: ['summary'], whole: true }],
  keywords: { en: ['tools', 'live', 'catalog', 'model', 'schemas'], 'zh-CN': ['工具', '模型', '目录'] },
  examples: [{ title: 'Those of this caller', input: {} }],
  errors: [],
  input: z.object({
    surface: surface.optional().describe('Surface. Default: where the call comes from.'),
  }),
  output: z.object({
    surface,
    tools: z
      .array(
        z.object({
          name: z.string().describe('Name of the tool.'),
          actionId: z.string().describe('Action that it calls.'),
          summary: z.string().describe('When to use it.'),
          effect: z.enum(['read', 'write', 'destructive']).describe('What a call does.'),
          asks: z.boolean().describe('A call asks a person first.'),
          inputSchema: z.looseObject({}).describe('JSON Schema of its input.'),
        }),
      )
      .describe('Tools, in the order in which they are listed.'),
  }),
  async run({ input, caller, ports }) {
    const where = input.surface ?? caller.surface;
    const tools = await ports.discovery.tools(where, caller);
    return {
      surface: where,
      tools: tools.map(({ name, summary, inputSchema, entry }) => ({
        name,
        actionId: entry.id,
        summary,
        effect: entry.effect,
        asks: entry.policy.outcome === 'asks',
        inputSchema,
      })),
    };
  },
});
