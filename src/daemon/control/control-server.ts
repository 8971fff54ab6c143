import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ERRORS, KaiwuError, toWireError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Daemon } from '../daemon.ts';

const HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
const REQUEST_MS = 10_000;

/** The daemon's control port. Loopback only, and only for who knows its token. */
export interface ControlServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves `GET /status` and `POST /stop` on a free port. */
export async function createControlServer(options: {
  token: string;
  daemon: Pick<Daemon, 'status'>;
  /** Process that answers, for whoever has to make sure. */
  pid: number;
  log: Logger;
  /** Told to stop; the answer is already on its way. */
  onStop(): void;
}): Promise<ControlServer> {
  const routes: Record<string, Record<string, () => { body: unknown; afterwards?: () => void }>> = {
    '/status': { GET: () => ({ body: { pid: options.pid, ...options.daemon.status() } }) },
    '/stop': { POST: () => ({ body: { stopping: true }, afterwards: options.onStop }) },
  };

  function answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      const port = (server.address() as AddressInfo).port;
      checkCaller(request, port, options.token);
      const route = routes[new URL(request.url ?? '/', 'http://127.0.0.1').pathname];
      const handler = route?.[request.method ?? ''];
      if (handler === undefined) {
        throw new KaiwuError('not_found', `The control port has no ${request.method} ${request.url}.`);
      }
      const { body, afterwards } = handler();
      if (afterwards !== undefined) response.once('finish', afterwards);
      reply(response, 200, body);
    } catch (error) {
      if (!(error instanceof KaiwuError)) options.log.error({ error }, 'a control request failed');
      const wire = toWireError(error);
      reply(response, ERRORS[wire.code].http, { status: 'error', error: wire });
    }
    request.resume();
  }

  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout: 1000 }, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** A page in a browser can reach this port under a name of its own, hence the look at the host. */
function checkCaller(request: IncomingMessage, port: number, token: string): void {
  const host = request.headers.host ?? '';
  if (!HOSTS.some((name) => host === `${name}:${port}`)) {
    throw new KaiwuError(
      'forbidden',
      `The control port does not answer to the host ${JSON.stringify(host.slice(0, 100))}.`,
    );
  }
  if (request.headers.origin !== undefined) {
    throw new KaiwuError('forbidden', 'The control port does not answer to web pages.');
  }
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new KaiwuError('not_authenticated', 'The control port wants the token of the daemon’s state file.');
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const json = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(json);
}
