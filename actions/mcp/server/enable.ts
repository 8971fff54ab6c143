import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { managedServer, serverHint, serverName } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.enable',
  title: { en: 'Enable an MCP server', 'zh-CN': '启用 MCP 服务器' },
  summary: 'Use to run an MCP server again that was disabled.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers enable'],
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['tool server', 'turn on', 'start', 'resume', 'switch on'],
    'zh-CN': ['工具服务器', '打开', '启动'],
  },
  examples: [{ title: 'One server', input: { name: 'files' } }],
  errors: ['mcp_server_not_found', 'conflict'],
  input: z.object({ name: serverName }),
  output: managedServer,
  run: ({ input, caller, ports }) => ports.managedServers.update(input.name, { enabled: true }, caller),
});
