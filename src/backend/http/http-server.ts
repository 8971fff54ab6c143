import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import type { Identity } from '../../core/engine.ts';
import { ERRORS, KaiwuError, toWireError } from '../../core/errors.ts';
import { LINK_MAX_FRAME, LINK_PATH } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { LinkServer } from '../link/link-server.ts';
import { retryAfter, SECURITY_HEADERS, toErrorEnvelope } from './answer.ts';
import { within } from './gate.ts';
import type { HttpEnv } from './http-env.ts';

export interface ServerTimings {
  /** Milliseconds for the head of a request, and for all of it. */
  headersMs: number;
  requestMs: number;
}

/** Connections at once; more are refused by closing them. */
const MAX_CONNECTIONS = 2000;

const KEEP_ALIVE_MS = 65_000;
const TCP_PROBE_MS = 30_000;

/** Milliseconds for answers that are still being read when the server closes, or the socket of a refused request. */
const CLOSE_GRACE_MS = 1000;

export interface HttpServer {
  /** @throws conflict when the port is taken */
  listen(host: string, port: number): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** The listening socket: HTTP to the app, upgrades to the machine links. */
export function createHttpServer(options: {
  app: Hono<HttpEnv>;
  links: LinkServer;
  /** Who asks to open a link. @throws what it is refused for */
  admitLink(incoming: IncomingMessage): Promise<Identity>;
  /** Hears of each connection before anything is read from it. */
  onConnection(socket: Socket): void;
  timings: ServerTimings;
  log: Logger;
}): HttpServer {
  const { app, links, timings, log } = options;
  const upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: LINK_MAX_FRAME,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const listener = getRequestListener(app.fetch, { errorHandler: () => toResponse(malformed()) });
  const server = createServer(
    {
      headersTimeout: timings.headersMs,
      requestTimeout: timings.requestMs,
      connectionsCheckingInterval: Math.min(5000, timings.headersMs),
      // Longer than clients keep an idle connection: none is closed under a request that is just being sent.
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A caller that vanished during a long wait is noticed.
      keepAlive: true,
      keepAliveInitialDelay: TCP_PROBE_MS,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  server.maxConnections = MAX_CONNECTIONS;

  server.on('connection', options.onConnection);
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', (error) => log.debug({ reason: error.message }, 'upgrade socket failed'));
    upgrade(incoming, socket, head).catch((error: unknown) => {
      if (!(error instanceof KaiwuError)) log.error({ error }, 'upgrade failed');
      refuse(socket, error);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? tooSlow() : malformed());
  });

  async function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const path = (incoming.url ?? '').split('?')[0];
    if (path !== LINK_PATH || incoming.headers.upgrade?.toLowerCase() !== 'websocket') throw noUpgrade(path);
    const bearer = await options.admitLink(incoming);
    upgrades.handleUpgrade(incoming, socket, head, (ws) => links.accept(ws, bearer));
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        const onError = (error: NodeJS.ErrnoException) => {
          server.off('listening', onListening);
          reject(toListenError(error, host, port));
        };
        const onListening = () => {
          server.off('error', onError);
          server.on('error', (error) => log.error({ error }, 'server error'));
          resolve(server.address() as AddressInfo);
        };
        server.once('error', onError).once('listening', onListening).listen(port, host);
      }),
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      if (!(await within(closed, CLOSE_GRACE_MS))) server.closeAllConnections();
      await closed;
      upgrades.close();
    },
  };
}

/** Answers on a socket that HTTP has let go of. */
function refuse(socket: Duplex, error: unknown): void {
  if (socket.destroyed) return;
  const { code, details } = toWireError(error);
  const status = ERRORS[code].http;
  const body = JSON.stringify(toErrorEnvelope(error));
  const wait = retryAfter(code, details);
  const headers: Record<string, string> = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...(wait === undefined ? {} : { 'retry-after': wait }),
  };
  // No timeout of the server reaches this socket any more, and its other end need not close it.
  setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref();
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function toResponse(error: KaiwuError): Response {
  return Response.json(toErrorEnvelope(error), {
    status: ERRORS[error.code].http,
    headers: SECURITY_HEADERS,
  });
}

const malformed = () => new KaiwuError('invalid_input', 'The request is not valid HTTP.');

const tooSlow = () => new KaiwuError('timeout', 'The request was not whole in time.');

const noUpgrade = (path: string | undefined) =>
  new KaiwuError(
    'invalid_input',
    `${(path ?? '').slice(0, 200)} cannot be upgraded; only ${LINK_PATH} is a WebSocket.`,
  );

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): KaiwuError {
  const taken = error.code === 'EADDRINUSE';
  const why = taken ? `port ${port} of ${host} is taken` : `${host}:${port}: ${error.message}`;
  return new KaiwuError('conflict', `The backend cannot listen: ${why}.`, {
    hint: taken ? 'Pass another port, or 0 for a free one.' : 'Pass an address of this machine.',
    cause: error,
  });
}
