import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_LOOKS, managedServer, SERVER_COLUMNS } from '../../_mcp.ts';

export default defineAction({
  id: 'mcp.server.list',
  title: { en: 'List MCP servers', 'zh-CN': '列出 MCP 服务器' },
  summary: 'Use to see the MCP servers that are configured, how each does and how many tools it has.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: MCP_LOOKS,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers list'],
  anySession: true,
  columns: SERVER_COLUMNS,
  next: {
    by: 'status',
    commands: {
      sign_in_needed: 'mcp servers login {name}',
      failed: 'mcp servers show {name}',
      degraded: 'mcp servers show {name}',
    },
  },
  keywords: {
    en: ['tool servers', 'integrations', 'status', 'connected', 'health', 'plugins'],
    'zh-CN': ['工具服务器', '集成', '状态', '连接'],
  },
  examples: [{ title: 'All servers', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({ servers: z.array(managedServer).describe('Servers, by name.') }),
  run: async ({ caller, ports }) => ({ servers: await ports.managedServers.list(caller) }),
});
