import * as z from 'zod';
import { serverConfigSchema } from '../../../src/core/managed/config.ts';
import { defineAction } from '../../../src/core/spec.ts';
import { MCP_SECRETS, managedServer, serverFields, serverHint, serverName } from '../../_mcp.ts';
import { PERSONAL } from '../../_surfaces.ts';

const clearable = <T extends z.ZodType>(field: T) => field.nullish();

/** Spelt out one by one, so that the types stay those of the fields. */
const f = serverFields;
const changes = {
  url: clearable(f.url),
  command: clearable(f.command),
  args: clearable(f.args),
  env: clearable(f.env),
  cwd: clearable(f.cwd),
  token: clearable(f.token),
  headers: clearable(f.headers),
  oauth: clearable(f.oauth),
  include_tools: clearable(f.include_tools),
  exclude_tools: clearable(f.exclude_tools),
  enabled: clearable(f.enabled),
  trusted: clearable(f.trusted),
  provider: clearable(f.provider),
  exposure: clearable(f.exposure),
  where: clearable(f.where),
  sessions: clearable(f.sessions),
  caFile: clearable(f.caFile),
  timeoutSeconds: clearable(f.timeoutSeconds),
  connectTimeoutSeconds: clearable(f.connectTimeoutSeconds),
  listTimeoutSeconds: clearable(f.listTimeoutSeconds),
  startTimeoutSeconds: clearable(f.startTimeoutSeconds),
};

export default defineAction({
  id: 'mcp.server.update',
  title: { en: 'Change an MCP server', 'zh-CN': '修改 MCP 服务器' },
  summary: 'Use to change settings of an MCP server. What is left out stays; null clears.',
  description:
    'Tools that were accepted stay so as long as they are what they were, also behind another address or program. Under another name its tools are other actions, and what was granted for them ends.',
  effect: 'write',
  idempotent: true,
  openWorld: true,
  surfaces: PERSONAL,
  approvals: 'default',
  session: 'none',
  commands: ['mcp servers update'],
  secrets: MCP_SECRETS,
  clearable: Object.keys(changes),
  positionals: ['name'],
  hints: {
    name: serverHint,
    env: { label: 'Environment', widget: 'json' },
    headers: { label: 'Headers', widget: 'json' },
    sessions: { label: 'Sessions', widget: 'json' },
    oauth: { label: 'Sign-in', widget: 'json' },
  },
  keywords: {
    en: ['tool server', 'edit', 'configure', 'rename', 'filter tools', 'timeout', 'secret'],
    'zh-CN': ['工具服务器', '编辑', '配置', '改名'],
  },
  examples: [{ title: 'Leave a tool out', input: { name: 'files', exclude_tools: ['write_*'] } }],
  errors: ['mcp_server_not_found', 'invalid_input', 'conflict', 'machine_not_found', 'state_damaged'],
  input: z.object({
    name: serverName,
    newName: serverConfigSchema.shape.name.describe('Another name.'),
    ...changes,
  }),
  output: managedServer,
  run: ({ input: { name, newName, ...change }, caller, ports }) =>
    ports.managedServers.update(
      name,
      { ...change, ...(newName === undefined ? {} : { name: newName }) },
      caller,
    ),
});
