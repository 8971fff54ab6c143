import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_LOOKS, managedTool } from '../../_mcp.ts';
import { limit } from '../../_shapes.ts';

export default defineAction({
  id: 'mcp.tool.search',
  title: { en: 'Search tools of MCP servers', 'zh-CN': '搜索 MCP 服务器的工具' },
  summary: 'Use to find a tool of the managed MCP servers by what it does.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: MCP_LOOKS,
  approvals: 'default',
  session: 'none',
  commands: ['mcp tools search'],
  anySession: true,
  positionals: ['query'],
  columns: ['server', 'name', 'state', 'effect', 'description'],
  keywords: {
    en: ['find tool', 'look for', 'integrations', 'which tool', 'discover'],
    'zh-CN': ['查找工具', '搜索', '发现'],
  },
  examples: [{ title: 'By words', input: { query: 'read a file' } }],
  errors: [],
  input: z.object({
    query: z.string().min(1).max(500).describe('Words for what the tool does.'),
    limit: limit(20),
  }),
  output: z.object({ tools: z.array(managedTool).describe('Tools, best first.') }),
  run: async ({ input, caller, ports }) => ({
    tools: await ports.managedTools.search(input.query, input.limit, caller),
  }),
});
