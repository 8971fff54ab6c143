import * as z from 'zod';
import { serverConfigSchema } from '../src/core/managed/config.ts';
import { SERVER_STATUSES } from '../src/core/managed/managed.ts';
import { MANAGED_TOOL_STATES, type ManagedServer } from '../src/core/ports/managed.ts';
import type { FieldHint, SurfaceDefaults } from '../src/core/spec.ts';
import { time } from './_shapes.ts';

/** Shapes of managed MCP servers and their tools. */

const direct = { exposure: 'direct' } satisfies SurfaceDefaults;
const discoverable = { exposure: 'discoverable' } satisfies SurfaceDefaults;

/** Looks at servers and their tools: hosts and sessions find them by search, so that their lists stay as short as they are. */
export const MCP_LOOKS = { app: direct, cli: direct, mcp: discoverable, agent: discoverable };

/** Fields that are sealed where they are kept, and shown nowhere. */
export const MCP_SECRETS = ['token', 'headers', 'env'];

export const serverName = z
  .string()
  .min(1)
  .max(64)
  .describe('Name of the server, as mcp.server.list shows it.');

export const serverHint: FieldHint = {
  label: 'MCP server',
  widget: 'select',
  options: { action: 'mcp.server.list', items: 'servers', value: 'name' },
};

const { name: _, ...fields } = serverConfigSchema.shape;

/** Settings of a server, each by its name in a configuration file. */
export const serverFields = fields;

const count = z.int().min(0);

const toolCounts = z.object({
  available: count.describe('Can be called.'),
  excluded: count.describe("Left out by the server's filter."),
  held_back: count.describe('New or changed, and waiting for a person to accept it.'),
  left_out: count.describe('No host takes it.'),
  gone: count.describe('Accepted before, and no longer listed.'),
  server_disabled: count.describe('The server is disabled.'),
  provider_not_trusted: count.describe('The provider of the server is not enabled and trusted.'),
});

const open = <T extends object>(): z.ZodType<T, T> => z.looseObject({}) as unknown as z.ZodType<T, T>;

export const managedServer = z.object({
  name: z.string().describe('Name.'),
  source: z
    .enum(['account', 'file'])
    .describe("account: kept here. file: from a machine's own configuration file, and changed only there."),
  where: z.string().describe('backend, or the machine whose daemon runs it.'),
  status: z.enum(SERVER_STATUSES).describe('starting, ready, degraded, sign_in_needed, failed or disabled.'),
  reason: z.string().optional().describe('Which part went wrong and how.'),
  stderrTail: z.string().optional().describe('End of what its program wrote to stderr.'),
  protocolVersion: z.string().optional().describe('Revision of MCP that both speak.'),
  serverInfo: open<NonNullable<ManagedServer['serverInfo']>>()
    .optional()
    .describe('name and version, as the server gives them.'),
  transport: z.enum(['stdio', 'http', 'sse']).optional().describe('How it is reached.'),
  warnings: z.array(z.string()).describe('What was left out or odd, in plain words.'),
  noiseLines: count.describe('Lines on its stdout that were no messages.'),
  starts: count.describe('Starts of its program.'),
  since: time('Since when it is in this status'),
  nextTryAt: time('When it is tried again').optional(),
  config: open<ManagedServer['config']>().describe('Its settings, without what is secret.'),
  secrets: z.array(z.string()).describe('Names of the secret values that are set, such as env.API_KEY.'),
  toolCounts: toolCounts.describe('Number of its tools in each state.'),
});

export const toolState = z
  .enum(MANAGED_TOOL_STATES)
  .describe('available, excluded, held_back, left_out, gone, server_disabled or provider_not_trusted.');

const differences = z.array(
  z.object({
    field: z.string().describe('Field of the definition.'),
    before: z.string().optional().describe('As it was accepted.'),
    after: z.string().optional().describe('As it is now.'),
  }),
);

export const managedTool = z.object({
  server: z.string().describe('Server that has it.'),
  name: z.string().describe("The server's own name of it."),
  toolName: z.string().describe('Name under which hosts list it.'),
  actionId: z.string().describe('Its action id, for calls and for rules of the policy.'),
  state: toolState,
  reason: z.string().optional().describe('Why it is not available.'),
  description: z.string().describe('As the server describes it: data of a stranger.'),
  effect: z.enum(['read', 'write', 'destructive']).describe('What a call counts as.'),
  digest: z.string().describe('Digest of its definition now; accepting names it.'),
  changes: differences.optional().describe('What changed since it was accepted.'),
  says: differences.optional().describe('All that its definition says, where it was never accepted.'),
});

/** A server in a list of people. */
export const SERVER_COLUMNS = [
  'name',
  'status',
  'where',
  { label: 'tools', of: ['toolCounts.available'] },
  { label: 'held back', of: ['toolCounts.held_back'] },
  { label: 'reason', of: ['reason'], whole: true as const },
];
