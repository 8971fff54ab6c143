import * as z from 'zod';
import type { MachineServer } from '../../core/link.ts';
import { SERVER_LIMITS, serverConfigSchema } from '../../core/managed/config.ts';
import { isDeeper, MAX_MESSAGE_NESTING } from '../../core/managed/nesting.ts';
import {
  MANAGED_LIMITS,
  SERVER_STATUSES,
  type ServerState,
  type ToolCallResult,
} from '../../core/managed/managed.ts';

/** Schemas of what a daemon says of the managed servers that it runs. */

const at = z.iso.datetime({ offset: true });
const text = (max: number) => z.string().max(max);
const anything = z
  .record(z.string(), z.unknown())
  .refine((value) => !isDeeper(value, MAX_MESSAGE_NESTING), 'is nested too deeply');

const definition = z.object({
  name: z.string().min(1).max(1000),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: anything,
  outputSchema: anything.optional(),
  annotations: anything.optional(),
});

/** Answer to `mcp.test`. */
export const serverStateSchema: z.ZodType<ServerState> = z.object({
  key: z.string().min(1).max(200),
  status: z.enum(SERVER_STATUSES),
  reason: text(MANAGED_LIMITS.reason * 2).optional(),
  stderrTail: text(MANAGED_LIMITS.stderr * 2).optional(),
  protocolVersion: text(100).optional(),
  serverInfo: z.object({ name: text(1000), version: text(1000) }).optional(),
  transport: z.enum(['stdio', 'http', 'sse']).optional(),
  tools: z.array(definition).max(MANAGED_LIMITS.tools).optional(),
  warnings: z.array(text(MANAGED_LIMITS.reason * 2)).max(MANAGED_LIMITS.warnings),
  noiseLines: z.int().min(0),
  starts: z.int().min(0),
  since: at,
  nextTryAt: at.optional(),
});

/** Parameters of `mcp.states`. */
export const machineServersSchema: z.ZodType<{ servers: MachineServer[] }> = z.object({
  servers: z
    .array(
      z.object({
        state: serverStateSchema,
        config: serverConfigSchema
          .omit({ token: true, headers: true, env: true })
          .extend({ name: text(SERVER_LIMITS.name).min(1) })
          .optional(),
        secrets: z
          .array(text(500))
          .max(2 * SERVER_LIMITS.variables + 1)
          .optional(),
      }),
    )
    .max(2 * SERVER_LIMITS.servers),
});

/** Answer to `mcp.call`. */
export const toolCallResultSchema: z.ZodType<ToolCallResult> = z.object({
  content: z.array(anything),
  structuredContent: anything.optional(),
  isError: z.boolean().optional(),
});
