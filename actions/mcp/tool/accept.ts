import * as z from 'zod';
import { defineAction } from '../../../src/core/spec.ts';
import { managedTool, serverHint, serverName } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.tool.accept',
  title: { en: 'Accept tools of an MCP server', 'zh-CN': '接受 MCP 服务器的工具' },
  summary: 'Use to trust tools of an MCP server that are new or changed, after looking at what they are now.',
  description:
    'Names the digest that was seen, so that only that is accepted. What was granted for a tool before it changed ends.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  positionals: ['server'],
  hints: { server: serverHint, tools: { label: 'Tools', widget: 'json' } },
  columns: ['server', 'name', 'state', 'effect', 'actionId'],
  keywords: {
    en: ['trust', 'approve tools', 'held back', 'changed tools', 'review', 'pin'],
    'zh-CN': ['信任', '接受', '变化', '审查'],
  },
  examples: [
    {
      title: 'A tool that changed',
      input: { server: 'files', tools: [{ name: 'read_file', digest: 'sha256-of-what-was-seen' }] },
    },
  ],
  errors: ['mcp_server_not_found', 'not_found', 'approval_stale'],
  input: z.object({
    server: serverName,
    tools: z
      .array(
        z.object({
          name: z.string().min(1).max(1000).describe("The server's own name of the tool."),
          digest: z.string().min(1).max(200).describe('Its digest, as mcp.tool.list shows it.'),
        }),
      )
      .min(1)
      .max(1000)
      .describe('Tools to trust as they are now.'),
  }),
  output: z.object({ tools: z.array(managedTool).describe('The tools that were accepted.') }),
  run: async ({ input, caller, ports }) => ({
    tools: await ports.managedTools.accept(input.server, input.tools, caller),
  }),
});
