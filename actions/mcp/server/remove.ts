import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { serverHint, serverName } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.remove',
  title: { en: 'Remove an MCP server', 'zh-CN': '移除 MCP 服务器' },
  summary:
    'Use to take an MCP server away with its secrets, its sign-in and all that was accepted and granted.',
  effect: 'destructive',
  idempotent: false,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers remove'],
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['tool server', 'delete', 'disconnect', 'forget', 'uninstall'],
    'zh-CN': ['工具服务器', '删除', '断开'],
  },
  examples: [{ title: 'A server that is not needed', input: { name: 'files' } }],
  errors: ['mcp_server_not_found', 'conflict'],
  input: z.object({ name: serverName }),
  output: z.object({ name: z.string().describe('Server that was removed.') }),
  async run({ input, caller, ports }) {
    const { name } = await ports.managedServers.get(input.name, caller);
    await ports.managedServers.remove(name, caller);
    return { name };
  },
});
