import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_LOOKS, managedServer, serverHint, serverName } from '../../_mcp.ts';

export default defineAction({
  id: 'mcp.server.get',
  title: { en: 'Show an MCP server', 'zh-CN': '查看 MCP 服务器' },
  summary: 'Use to see the settings of one MCP server and how it does.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: MCP_LOOKS,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers show'],
  anySession: true,
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['tool server', 'details', 'settings', 'status', 'why failed', 'stderr'],
    'zh-CN': ['工具服务器', '详情', '状态'],
  },
  examples: [{ title: 'One server', input: { name: 'files' } }],
  errors: ['mcp_server_not_found'],
  input: z.object({ name: serverName }),
  output: managedServer,
  run: ({ input, caller, ports }) => ports.managedServers.get(input.name, caller),
});
