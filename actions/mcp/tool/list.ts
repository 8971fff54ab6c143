import * as z from 'zod';
import { fromCursor, toCursor } from '../../../src/core/page.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_LOOKS, managedTool, serverHint, serverName, toolState } from '../../_mcp.ts';
import { cursor, limit, nextCursor } from '../../_shapes.ts';

export default defineAction({
  id: 'mcp.tool.list',
  title: { en: 'List tools of MCP servers', 'zh-CN': '列出 MCP 服务器的工具' },
  summary: 'Use to see the tools of managed MCP servers, those that cannot be called and why among them.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: MCP_LOOKS,
  approvals: 'default',
  session: 'none',
  commands: ['mcp tools list'],
  anySession: true,
  positionals: ['server'],
  hints: { server: serverHint },
  columns: [
    'server',
    'name',
    'state',
    'effect',
    'description',
    { label: 'reason', of: ['reason'], whole: true },
  ],
  keywords: {
    en: ['integrations', 'what tools', 'held back', 'changed tools', 'plugin tools', 'available'],
    'zh-CN': ['工具', '可用', '被保留', '变化'],
  },
  examples: [{ title: 'All tools', input: {} }],
  errors: ['mcp_server_not_found'],
  input: z.object({
    server: serverName.optional(),
    state: toolState.optional(),
    limit: limit(100),
    cursor: cursor.optional(),
  }),
  output: z.object({
    tools: z.array(managedTool).describe('Tools, by server and name.'),
    nextCursor,
  }),
  async run({ input, caller, ports }) {
    const { server, state } = input;
    const all = await ports.managedTools.list(
      { ...(server === undefined ? {} : { server }), ...(state === undefined ? {} : { state }) },
      caller,
    );
    const [after] = input.cursor === undefined ? [''] : fromCursor('mcp_tools', input.cursor, ['string']);
    const rest = all
      .toSorted((a, b) => (a.actionId < b.actionId ? -1 : 1))
      .filter(({ actionId }) => actionId > String(after));
    const tools = rest.slice(0, input.limit);
    const last = tools.at(-1);
    return last === undefined || rest.length === tools.length
      ? { tools }
      : { tools, nextCursor: toCursor('mcp_tools', [last.actionId]) };
  },
});
