import * as z from 'zod';
import { defineAction, forwarded } from '../../../src/core/spec.ts';
import { MCP_LOOKS, serverHint, serverName } from '../../_mcp.ts';

export default defineAction({
  id: 'mcp.tool.call',
  title: { en: 'Call a tool of an MCP server', 'zh-CN': '调用 MCP 服务器的工具' },
  summary: 'Use to call a tool of a managed MCP server by its server and name.',
  description: 'The same as calling the action of the tool: the same policy, approval and audit.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: MCP_LOOKS,
  approvals: 'never',
  session: 'none',
  commands: ['mcp tools call'],
  anySession: true,
  positionals: ['server', 'tool'],
  hints: { server: serverHint, arguments: { label: 'Arguments', widget: 'json' } },
  keywords: {
    en: ['invoke', 'run tool', 'integration', 'execute', 'plugin'],
    'zh-CN': ['调用', '执行', '工具'],
  },
  examples: [
    {
      title: 'Read a file',
      input: { server: 'files', tool: 'read_file', arguments: { path: '/srv/notes.txt' } },
    },
  ],
  errors: ['unknown_action', 'action_disabled', 'invalid_input', 'tool_failed', 'mcp_server_unavailable'],
  forward: { action: 'managed.{server}.{tool}', inputField: 'arguments' },
  input: z.object({
    server: serverName,
    tool: z.string().min(1).max(1000).describe("The server's own name of the tool."),
    arguments: z.looseObject({}).default({}).describe("Its arguments, by the tool's own schema."),
  }),
  output: z.looseObject({}).describe('The MCP result: content, structuredContent.'),
  run: forwarded,
});
