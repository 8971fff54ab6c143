import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { managedServer, serverHint, serverName } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.disable',
  title: { en: 'Disable an MCP server', 'zh-CN': '停用 MCP 服务器' },
  summary: 'Use to end an MCP server for the time being: its tools are refused, its settings stay.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers disable'],
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['tool server', 'turn off', 'stop', 'pause', 'switch off'],
    'zh-CN': ['工具服务器', '关闭', '停止'],
  },
  examples: [{ title: 'One server', input: { name: 'files' } }],
  errors: ['mcp_server_not_found', 'conflict'],
  input: z.object({ name: serverName }),
  output: managedServer,
  run: ({ input, caller, ports }) => ports.managedServers.update(input.name, { enabled: false }, caller),
});
