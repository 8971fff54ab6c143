import type { Hono } from 'hono';
import * as z from 'zod';
import type { Envelope } from '../../core/call.ts';
import type { ActionEngine } from '../../core/engine.ts';
import { type ErrorCode, KaiwuError, type WireError } from '../../core/errors.ts';
import type { Surface } from '../../core/spec.ts';
import type { Authenticate, Bearer } from './authenticate.ts';
import { readJson } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toCredential } from './web-credential.ts';

/** Bytes of a request. Its calls only read, and take little. */
const MAX_BYTES = 256 * 1024;

/** Methods begin so; what follows is the tool name of a read of the registry. */
const PREFIX = 'kaiwu.';
const FAMILY = 'tool_registry_';

/** Codes of JSON-RPC 2.0 that are nearest to ours; all others are the server's own -32000. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  invalid_input: -32602,
  unknown_action: -32602,
  internal: -32603,
};

const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

type RpcId = string | number | null;
type RpcAnswer =
  | { jsonrpc: '2.0'; id: RpcId; result: unknown }
  | { jsonrpc: '2.0'; id: RpcId; error: { code: number; message: string; data?: unknown } };

/**
 * `POST /rpc`: the registry of tools as JSON-RPC 2.0, for dashboards and assistants that open no MCP session. A method is a read
 * of the catalog under its tool name; keys go and come in snake_case. Notifications and batches have no use here.
 */
export function addRpcRoute(
  app: Hono<HttpEnv>,
  { engine, authenticate, gate }: { engine: ActionEngine; authenticate: Authenticate; gate: Gate },
): void {
  app.post('/rpc', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    const parsed = requestSchema.safeParse(await readBody(c.env.incoming));
    if (!parsed.success) {
      const message = 'Invalid request: {"jsonrpc":"2.0","id":1,"method":"kaiwu.tool_registry_list"} is one.';
      return c.json(failure(null, -32600, message));
    }
    const { id, method, params = {} } = parsed.data;
    if (id === undefined) return c.body(null, 202);
    if (!method.startsWith(PREFIX + FAMILY))
      return c.json(failure(id, -32601, `Unknown method ${method.slice(0, 80)}.`));
    const actionId = method.slice(PREFIX.length);
    if (!engine.manifests.some(({ toolName, effect }) => toolName === actionId && effect === 'read')) {
      return c.json(failure(id, -32601, `Unknown method ${method.slice(0, 80)}.`));
    }
    const envelope = await gate.run(c.req.raw.signal, (signal) =>
      engine.execute(
        {
          actionId,
          input: mapKeys(params, toCamel),
          context: { surface: surfaceOf(bearer), client: 'rpc' },
        },
        bearer,
        signal,
      ),
    );
    return c.json(toAnswer(id, envelope));
  });
}

async function readBody(incoming: HttpEnv['Bindings']['incoming']): Promise<unknown> {
  try {
    return await readJson(incoming, MAX_BYTES);
  } catch (error) {
    if (error instanceof KaiwuError && error.code === 'invalid_input') return undefined;
    throw error;
  }
}

/** A token that may speak for one surface alone speaks for that one. */
const surfaceOf = ({ scope }: Bearer): Surface => scope.surfaces?.[0] ?? 'mcp';

function toAnswer(id: RpcId, envelope: Envelope): RpcAnswer {
  if (envelope.status === 'ok') return { jsonrpc: '2.0', id, result: toSnakeResult(envelope.output) };
  if (envelope.status === 'error') return toFailure(id, envelope.error);
  return failure(id, -32000, 'A person has to approve this first.', envelope.approval);
}

const toFailure = (id: RpcId, error: WireError): RpcAnswer =>
  failure(id, RPC_CODES[error.code] ?? -32000, error.message, error);

const failure = (id: RpcId, code: number, message: string, data?: unknown): RpcAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

const toCamel = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const toSnake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const mapKeys = (value: Record<string, unknown>, rename: (key: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), item]));

/** Our own keys, at every depth but inside schemas, whose names are the tools' own. */
function toSnakeResult(value: unknown, key = ''): unknown {
  if (key.endsWith('Schema') || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toSnakeResult(item));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toSnake(name), toSnakeResult(item, name)]),
  );
}
