import * as z from 'zod';
import { serverConfigSchema } from '../../../src/core/managed/config.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_SECRETS, managedServer, serverFields } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

export default defineAction({
  id: 'mcp.server.add',
  title: { en: 'Add an MCP server', 'zh-CN': '添加 MCP 服务器' },
  summary: 'Use to make the tools of an MCP server available to sessions, hosts and the command line.',
  description:
    'Takes a server as configuration files have it, with url or command. Answers when it is connected, or with what is wrong. The tools of its first listing are trusted; what is new or changed later is held back until a person accepts it. Secrets belong in token, headers and env, which are sealed: args are shown.',
  effect: 'write',
  idempotent: false,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers add'],
  secrets: MCP_SECRETS,
  positionals: ['name'],
  hints: {
    env: { label: 'Environment', widget: 'json' },
    headers: { label: 'Headers', widget: 'json' },
    sessions: { label: 'Sessions', widget: 'json' },
    oauth: { label: 'Sign-in', widget: 'json' },
  },
  keywords: {
    en: ['tool server', 'connect', 'integration', 'plugin', 'stdio', 'streamable http', 'configure'],
    'zh-CN': ['工具服务器', '连接', '集成', '插件', '配置'],
  },
  examples: [
    {
      title: 'A server that is a program',
      input: {
        name: 'files',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv'],
      },
    },
    {
      title: 'A server at an address',
      input: { name: 'home', url: 'https://home.example/mcp', token: 'secret' },
    },
  ],
  errors: ['invalid_input', 'conflict', 'machine_not_found', 'state_damaged'],
  input: z.object({ name: serverConfigSchema.shape.name, ...serverFields }),
  output: managedServer,
  run: ({ input, caller, ports }) => ports.managedServers.add(input, caller),
});
