import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../../core/ports/host.ts';
import { createDoor, type Door, type DoorHandlers, type DoorLimits } from './door.ts';
import { sendError } from './exchange.ts';
import { RPC, RpcError, type ServerInfo } from './protocol.ts';

const MIB = 1024 * 1024;
const LIMITS: DoorLimits = { maxBodyBytes: 8 * MIB, maxHeldBytes: 32 * MIB, maxOpen: 64, maxStreams: 8 };
const MAX_CONNECTIONS = 1024;
const PATH = '/mcp';
const HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** Milliseconds for a whole request to come in. */
const REQUEST_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;

/** Kaiwu's tools over Streamable HTTP, on this machine alone: one port, and a door of its own for each bearer. */
export interface McpHttp {
  readonly url: string;
  /** Opens a door. Answers how to close it for ever. */
  open(bearer: string, handlers: DoorHandlers): () => void;
  /** Tells every host that waits for it. */
  toolsChanged(): void;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function startMcpHttp(options: {
  info: ServerInfo;
  log: Logger;
  limits?: Partial<DoorLimits>;
}): Promise<McpHttp> {
  const { info, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  /** By the digest of the bearer: how long a look takes tells nothing of a bearer that is not known. */
  const doors = new Map<string, Door>();

  function findDoor({ headers, url }: IncomingMessage): Door {
    const { port } = server.address() as AddressInfo;
    const own = HOSTS.map((name) => `${name}:${port}`);
    // A page in a browser can reach this port, also under a name of its own.
    if (!own.includes(headers.host ?? '')) throw new RpcError(RPC.refused, 'Forbidden host', 403);
    const { origin } = headers;
    if (origin !== undefined && !own.some((host) => origin === `http://${host}`)) {
      throw new RpcError(RPC.refused, 'Forbidden origin', 403);
    }
    const bearer = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(headers.authorization ?? '')?.[1];
    const door = bearer === undefined ? undefined : doors.get(digestOf(bearer));
    if (door === undefined) throw new RpcError(RPC.refused, 'Unauthorized', 401);
    if (url?.split('?')[0] !== PATH) throw new RpcError(RPC.refused, 'Not found', 404);
    return door;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await findDoor(request).serve(request, response);
    } catch (error) {
      // A host that went away in the middle of its request hears nothing and needs nothing.
      if (!(error instanceof RpcError) && !response.destroyed) log.error({ error }, 'MCP request failed');
      sendError(
        response,
        error instanceof RpcError ? error : new RpcError(RPC.internal, 'Internal error', 500),
      );
    } finally {
      request.resume();
    }
  }

  const server = createServer(
    { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => void answer(request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    open(bearer, handlers) {
      const door = createDoor({ info, handlers, limits, log });
      const digest = digestOf(bearer);
      doors.set(digest, door);
      return () => {
        doors.delete(digest);
        door.close();
      };
    },
    toolsChanged() {
      for (const door of doors.values()) door.toolsChanged();
    },
    close: () =>
      new Promise((resolve) => {
        for (const door of doors.values()) door.close();
        doors.clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const digestOf = (bearer: string): string => createHash('sha256').update(bearer).digest('hex');
