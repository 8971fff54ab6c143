import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
  type StandardSchemaV1,
  type Tool,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { HOST_METHODS } from '../../core/spec.ts';
import { HOST_SHAPES } from './host-methods.ts';
import type { HostSide } from './host-side.ts';
import { CAPABILITIES, clientNameOf, requireUri, RpcError } from './http/protocol.ts';
import { createGatedWire } from './listen-gate.ts';
import type { McpTool } from './tools.ts';
import type { ToolResult } from './result.ts';
import type { Wire } from './wire.ts';

/** A call as a host made it, whatever its protocol generation. */
export interface ToolCall {
  name: string;
  args: Record<string, unknown>;
  /** The host's own name. */
  clientName: string | undefined;
  /** Tells the host that the call goes on; undefined where the host did not ask for it. */
  progress: ((count: number, message: string) => void) | undefined;
  /** Aborted when the host canceled the call. */
  signal: AbortSignal;
}

export interface Protocol {
  /** Tells every host that follows the list. */
  toolsChanged(): void;
  close(): Promise<void>;
}

/** How long a host of the stateless generation may keep a list that it does not follow, milliseconds. */
const LIST_TTL_MS = 5000;

/** Who subscribed in a generation in which the connection does. */
const CONNECTION = 'connection';

const KEEP = { ttlMs: LIST_TTL_MS, cacheScope: 'private' as const };
const CACHE_HINTS = Object.fromEntries([
  ['tools/list', KEEP],
  ...HOST_METHODS.filter((method) => HOST_SHAPES[method].isList === true).map((method) => [method, KEEP]),
  ['resources/read', { ...KEEP, ttlMs: 0 }],
]) as NonNullable<ServerOptions['cacheHints']>;

/** Params of a request go to the action that answers it, whose own schema has the better words. */
const AS_GIVEN: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'kaiwu',
    validate: (value) => ({ value: value as Record<string, unknown> }),
  },
};

/** Never asked: this server asks hosts nothing, so no answer of theirs needs a schema. Spares the SDK's own. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'not expected' }),
};

/**
 * The only file that knows the SDK. Serves both protocol generations, as the host opens: the `initialize` handshake, or
 * 2026-07-28 where each request stands for itself.
 */
export function serveProtocol(
  wire: Wire,
  info: { version: string; instructions: string },
  handlers: {
    listTools(): Promise<McpTool[]>;
    callTool(call: ToolCall): Promise<ToolResult>;
    host: HostSide;
    onError(error: Error): void;
  },
): Protocol {
  let current: Server | undefined;
  let stateless = false;
  const { host } = handlers;
  const subscriptions = host.subscribe((uri) => {
    current?.sendResourceUpdated({ uri }).catch(handlers.onError);
  });

  const nameOf = (server: Server, { mcpReq }: ServerContext): string | undefined => {
    const envelope = mcpReq.envelope as Record<string, Implementation | undefined> | undefined;
    return (envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name;
  };

  function addHostMethods(server: Server, era: 'legacy' | 'modern'): void {
    for (const method of HOST_METHODS) {
      server.setRequestHandler(method, { params: AS_GIVEN }, async (params, context) => {
        const { signal } = context.mcpReq;
        const request = { method, params, clientName: nameOf(server, context), signal };
        return host.answer(request).catch(rethrow);
      });
    }
    if (era === 'modern') return;
    server.setRequestHandler('resources/subscribe', { params: AS_GIVEN }, async ({ uri }, context) => {
      const add = async () => subscriptions.add(CONNECTION, requireUri(uri), nameOf(server, context));
      await add().catch(rethrow);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', { params: AS_GIVEN }, async ({ uri }) => {
      if (typeof uri === 'string') subscriptions.drop(CONNECTION, uri);
      return {};
    });
  }

  function createServer(era: 'legacy' | 'modern'): Server {
    const server = new Server(
      { name: 'kaiwu', title: 'Kaiwu', version: info.version },
      {
        capabilities: CAPABILITIES,
        instructions: info.instructions,
        jsonSchemaValidator: NO_VALIDATOR,
        cacheHints: CACHE_HINTS,
      },
    );
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's own callback
    server.onerror = handlers.onError;
    server.setRequestHandler('tools/list', async ({ params }) => {
      // The list is one page, so no cursor was ever given out.
      if (params?.cursor !== undefined) throw invalidParams(`unknown cursor ${params.cursor.slice(0, 80)}`);
      return { tools: (await handlers.listTools()) as unknown as Tool[] };
    });
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      if (era === 'legacy' && server.getClientVersion() === undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidRequest,
          `${params.name} was called before initialize`,
        );
      }
      const { _meta: meta, signal, notify } = context.mcpReq;
      const token = meta?.progressToken;
      // What a managed server answered was checked by whoever asked it, and goes on as it is.
      return (await handlers.callTool({
        name: params.name,
        args: params.arguments ?? {},
        clientName: nameOf(server, context),
        progress:
          token === undefined
            ? undefined
            : (progress, message) => {
                const note = { progressToken: token, progress, message };
                notify({ method: 'notifications/progress', params: note }).catch(handlers.onError);
              },
        signal,
      })) as CallToolResult;
    });
    addHostMethods(server, era);
    current = server;
    stateless = era === 'modern';
    return server;
  }

  const transport = createGatedWire(wire, {
    isStateless: () => stateless,
    drop: (holder) => subscriptions.drop(holder),
    async admit(holder, uris, message) {
      const add = (uri: string) => subscriptions.add(holder, uri, clientNameOf(message)).then(() => [uri]);
      const added = await Promise.all(uris.map((uri) => add(uri).catch(() => [])));
      return added.flat();
    },
  });
  const handle = serveStdio(({ era }) => createServer(era), { transport, onerror: handlers.onError });
  return {
    toolsChanged() {
      current?.sendToolListChanged().catch(handlers.onError);
    },
    close() {
      subscriptions.close();
      return handle.close();
    },
  };
}

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

function rethrow(error: unknown): never {
  throw error instanceof RpcError ? new ProtocolError(error.code, error.message, error.data) : error;
}
