import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { surface } from '../../_governance.ts';
import { registryTool, withHealth } from '../../_registry.ts';
import { RELATED } from '../../_surfaces.ts';

export default defineAction({
  id: 'tool.registry.list',
  title: { en: 'List every tool', 'zh-CN': '列出所有工具' },
  summary:
    'Use to see every tool that there is, native and of managed MCP servers, with route, schemas and health.',
  description: 'It describes and changes nothing: a tool is called as always.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  columns: ['toolId', 'route', 'effect', 'enabled', 'health'],
  keywords: {
    en: ['registry', 'inventory', 'tools', 'all tools', 'routes', 'schemas'],
    'zh-CN': ['工具', '清单', '注册表'],
  },
  examples: [{ title: 'All tools', input: {} }],
  errors: [],
  input: z.object({
    surface: surface
      .optional()
      .describe('As calls from there would find them. Default: where the call comes from.'),
    route: z.string().max(100).optional().describe('Only tools of this route: native, or mcp:<server>.'),
    tag: z.string().max(100).optional().describe('Only tools with this tag.'),
  }),
  output: z.object({ tools: z.array(registryTool).describe('Tools, by id.') }),
  async run({ input, caller, ports }) {
    const tools = await ports.discovery.registry(input.surface ?? caller.surface, caller);
    const wanted = tools.filter(
      ({ route, tags }) =>
        (input.route === undefined || route === input.route) &&
        (input.tag === undefined || tags.includes(input.tag)),
    );
    return { tools: await withHealth(wanted, ports) };
  },
});
