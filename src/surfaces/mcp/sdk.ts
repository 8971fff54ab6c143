import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
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
    onError(error: Error): void;
  },
): Protocol {
  let current: Server | undefined;

  function createServer(era: 'legacy' | 'modern'): Server {
    const server = new Server(
      { name: 'kaiwu', title: 'Kaiwu', version: info.version },
      {
        capabilities: { tools: { listChanged: true } },
        instructions: info.instructions,
        jsonSchemaValidator: NO_VALIDATOR,
        cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
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
      const { _meta: meta, envelope, signal, notify } = context.mcpReq;
      const token = meta?.progressToken;
      const named = (envelope as Record<string, Implementation | undefined> | undefined)?.[
        CLIENT_INFO_META_KEY
      ];
      // What a managed server answered was checked by whoever asked it, and goes on as it is.
      return (await handlers.callTool({
        name: params.name,
        args: params.arguments ?? {},
        clientName: (named ?? server.getClientVersion())?.name,
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
    current = server;
    return server;
  }

  const handle = serveStdio(({ era }) => createServer(era), { transport: wire, onerror: handlers.onError });
  return {
    toolsChanged() {
      current?.sendToolListChanged().catch(handlers.onError);
    },
    close: () => handle.close(),
  };
}

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
