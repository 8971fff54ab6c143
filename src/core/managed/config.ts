import * as z from 'zod';
import { SERVER_LIMITS, SERVER_TIMEOUTS, UNNAMED } from './limits.ts';

export { SERVER_LIMITS, SERVER_TIMEOUTS };

const text = (max: number) => z.string().min(1).max(max);
const values = z.record(z.string().min(1).max(256), z.string().max(SERVER_LIMITS.value));
const seconds = (max: number) => z.int().min(1).max(max).optional();

/**
 * A managed MCP server as people write it: in a configuration file, in `kaiwu mcp servers add` and in the app. Either `url` or
 * `command`. Field names are those that the hosts' own configuration files use, where they agree.
 */
export const serverConfigSchema = z.object({
  name: text(SERVER_LIMITS.name).optional().describe(`Shown name; default ${UNNAMED}.`),
  url: text(SERVER_LIMITS.url)
    .optional()
    .describe('Address of a server over HTTP (Streamable HTTP, else SSE).'),
  command: text(4096).optional().describe('Program of a server over stdio.'),
  args: z
    .array(z.string().max(SERVER_LIMITS.value))
    .max(SERVER_LIMITS.args)
    .optional()
    .describe('Its arguments.'),
  env: values.optional().describe('Variables that it gets beside the usual ones. Kept sealed.'),
  cwd: text(4096).optional().describe('Folder that it starts in.'),
  token: z.string().max(SERVER_LIMITS.value).optional().describe('Bearer token, for HTTP only. Kept sealed.'),
  headers: values.optional().describe('Further HTTP headers. Kept sealed.'),
  oauth: z
    .object({
      clientId: z
        .string()
        .max(500)
        .optional()
        .describe('Client id registered with the server, if it has no registration of its own.'),
      scope: z.string().max(1000).optional().describe('Scopes to ask for, with spaces between.'),
    })
    .optional()
    .describe('Settings of OAuth sign-in, where the defaults do not do.'),
  include_tools: z
    .array(text(256))
    .max(SERVER_LIMITS.patterns)
    .optional()
    .describe('Tools to take, names or patterns with *; default all.'),
  exclude_tools: z
    .array(text(256))
    .max(SERVER_LIMITS.patterns)
    .optional()
    .describe('Tools to leave out, names or patterns with *. Wins over include_tools.'),
  enabled: z.boolean().optional().describe('Default true.'),
  trusted: z
    .boolean()
    .optional()
    .describe('Believe its hints that a tool only reads. Default false: every tool counts as writing.'),
  provider: text(100)
    .optional()
    .describe('Capability provider that it is of. Its tools are off while that is not enabled and trusted.'),
  exposure: z
    .enum(['direct', 'discoverable'])
    .optional()
    .describe('Whether sessions list its tools by name (direct, the default) or only find them by search.'),
  where: text(200)
    .optional()
    .describe(
      'backend, or the id of the machine whose daemon runs it (stdio only). Default: the machine that adds it, for stdio.',
    ),
  sessions: z
    .object({
      agents: z.array(text(100)).max(100).optional().describe('Sessions of these agents.'),
      sessionIds: z.array(text(200)).max(200).optional().describe('These sessions.'),
    })
    .optional()
    .describe('Which sessions get its tools. Default: all.'),
  caFile: text(4096).optional().describe('PEM file of a further authority, for a private certificate.'),
  timeoutSeconds: seconds(86_400).describe('Longest call, seconds. Default 600.'),
  connectTimeoutSeconds: seconds(3600).describe('Longest connection attempt, seconds. Default 10.'),
  listTimeoutSeconds: seconds(3600).describe('Longest listing of tools, seconds. Default 60.'),
  startTimeoutSeconds: seconds(3600).describe('Longest start of its program, seconds. Default 30.'),
});

export type ServerConfig = z.output<typeof serverConfigSchema>;

/** Fields that are sealed at rest and never shown again. */
export const SECRET_FIELDS = ['token', 'headers', 'env'] as const satisfies (keyof ServerConfig)[];
