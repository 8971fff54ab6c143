import * as z from 'zod';
import { defineAction } from '../../../../src/core/spec.ts';
import { managedServer } from '../../../_mcp.ts';
import { PERSONAL } from '../../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.login.complete',
  title: { en: 'Complete signing in to an MCP server', 'zh-CN': '完成登录 MCP 服务器' },
  summary: 'Use to hand over what the browser came back with after signing in to an MCP server.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  secrets: ['state', 'code'],
  keywords: {
    en: ['oauth', 'callback', 'authorization code', 'sign in', 'login'],
    'zh-CN': ['登录', '授权', '回调'],
  },
  examples: [{ title: 'The answer of the browser', input: { state: 'state-123', code: 'code-123' } }],
  errors: ['not_found', 'access_denied', 'mcp_sign_in_needed', 'mcp_server_unavailable', 'unsupported'],
  input: z.object({
    state: z.string().min(1).max(1000).describe('As it came back.'),
    code: z.string().min(1).max(4096).optional().describe('As it came back.'),
    error: z.string().min(1).max(1000).optional().describe('As it came back, where signing in was refused.'),
    iss: z.string().min(1).max(2048).optional().describe('As it came back: who answers, by RFC 9207.'),
  }),
  output: managedServer,
  run: ({ input, caller, ports }) => ports.managedServers.completeSignIn(input, caller),
});
