import * as z from 'zod';
import { defineAction } from '../../../../src/core/spec.ts';
import { serverHint, serverName } from '../../../_mcp.ts';
import { PERSONAL } from '../../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.login.begin',
  title: { en: 'Begin signing in to an MCP server', 'zh-CN': '开始登录 MCP 服务器' },
  summary: 'Use to get the address at which a person signs in to an MCP server with OAuth.',
  description: 'For servers with a url that run in the backend. The browser comes back to redirectUri.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  transient: ['authorizationUrl', 'state'],
  positionals: ['name'],
  hints: { name: serverHint },
  keywords: {
    en: ['oauth', 'sign in', 'authorize', 'connect account', 'login'],
    'zh-CN': ['登录', '授权', '账号'],
  },
  examples: [{ title: 'Sign in', input: { name: 'home', redirectUri: 'http://127.0.0.1:33418/callback' } }],
  errors: ['mcp_server_not_found', 'mcp_server_unavailable', 'unsupported', 'timeout'],
  input: z.object({
    name: serverName,
    redirectUri: z.url().max(2048).describe('Where the browser comes back to with state and code.'),
  }),
  output: z.object({
    authorizationUrl: z.string().describe('Where the person signs in.'),
    state: z.string().describe('Comes back with the browser.'),
  }),
  run: ({ input, caller, ports }) => ports.managedServers.beginSignIn(input.name, input.redirectUri, caller),
});
