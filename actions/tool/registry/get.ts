import * as z from 'zod';
import { KaiwuError } from '../../../src/core/errors.ts';
import { nearest } from '../../../src/core/nearest.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { surface } from '../../_governance.ts';
import { registryTool, withHealth } from '../../_registry.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'tool.registry.get',
  title: { en: 'Look up a tool', 'zh-CN': '查看工具' },
  summary: 'Use to see one tool of the registry: its route, schemas, health and whether it may be called.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  positionals: ['toolId'],
  keywords: { en: ['registry', 'tool', 'schema', 'route', 'health'], 'zh-CN': ['工具', '注册表', '查看'] },
  examples: [{ title: 'A native tool', input: { toolId: 'session.title.set' } }],
  errors: ['unknown_action'],
  input: z.object({
    toolId: z.string().min(1).max(200).describe('Id of the tool, or the name under which hosts list it.'),
    surface: surface
      .optional()
      .describe('As calls from there would find it. Default: where the call comes from.'),
  }),
  output: z.object({ tool: registryTool.describe('The tool.') }),
  async run({ input, caller, ports }) {
    const tools = await ports.discovery.registry(input.surface ?? caller.surface, caller);
    const found = tools.find(({ toolId, toolName }) => toolId === input.toolId || toolName === input.toolId);
    if (found === undefined) {
      const near = nearest(
        input.toolId,
        tools.map(({ toolId }) => toolId),
        3,
      );
      throw new KaiwuError(
        'unknown_action',
        `There is no tool ${JSON.stringify(input.toolId.slice(0, 80))}.`,
        {
          hint: `Nearest: ${near.join(', ')}. List the registry for others.`,
        },
      );
    }
    const [tool] = await withHealth([found], ports);
    return { tool: tool! };
  },
});
