import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { managedServer, serverHint, serverName } from '../../_mcp.ts';
import { INSIGHT } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.test',
  title: { en: 'Test an MCP server', 'zh-CN': '测试 MCP 服务器' },
  summary: 'Use to connect to an MCP server anew, list its tools, and see what is wrong if that fails.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers test'],
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['tool server', 'reconnect', 'retry', 'check', 'ping', 'restart', 'refresh tools'],
    'zh-CN': ['工具服务器', '重新连接', '检查', '重试'],
  },
  examples: [{ title: 'One server', input: { name: 'files' } }],
  errors: ['mcp_server_not_found', 'machine_offline', 'daemon_not_running', 'timeout'],
  input: z.object({ name: serverName }),
  output: managedServer,
  run: ({ input, caller, ports, signal }) => ports.managedServers.test(input.name, caller, signal),
});
