import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { toToolInstructions } from '../../../src/core/tool-instructions.ts';
import { surface } from '../../_governance.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'core.tools.instructions',
  title: { en: 'Describe the tools in words', 'zh-CN': '工具说明' },
  summary:
    'Use to get a Markdown block that tells a model without tool calling of its own which tools there are.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  keywords: {
    en: ['prompt', 'markdown', 'instructions', 'system prompt', 'tools', 'budget'],
    'zh-CN': ['提示词', '说明', '工具', '预算'],
  },
  examples: [{ title: 'A short one', input: { maxTokens: 1000 } }],
  errors: [],
  input: z.object({
    maxTokens: z
      .int()
      .min(200)
      .max(50_000)
      .default(4000)
      .describe('Most tokens of the block, by a guess on the safe side, 200 to 50000. Default 4000.'),
    surface: surface.optional().describe('Surface whose tools are told. Default: where the call comes from.'),
  }),
  output: z.object({
    text: z.string().describe('Markdown.'),
    told: z.int().describe('Tools told with their fields.'),
    named: z.int().describe('Tools told by name and use only.'),
    left: z.int().describe('Tools left out.'),
  }),
  async run({ input: { maxTokens, surface }, caller, ports }) {
    return toToolInstructions(await ports.discovery.tools(surface ?? caller.surface, caller), maxTokens);
  },
});
