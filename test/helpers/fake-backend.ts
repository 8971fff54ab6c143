import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
  body: any;
}

export interface FakeBackend {
  url: string;
  port: number;
  requests: SeenRequest[];
  close(): Promise<void>;
}

export type Answer = (request: SeenRequest, response: ServerResponse, raw: IncomingMessage) => unknown;

/** A peer that answers whatever a test says, on a free port. */
export async function startFakeBackend(
  answer: Answer,
  tls?: { key: string; cert: string },
): Promise<FakeBackend> {
  const requests: SeenRequest[] = [];
  const listener: RequestListener = (raw, response) => {
    const parts: Buffer[] = [];
    raw.on('data', (part: Buffer) => parts.push(part));
    raw.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const body = text === '' ? undefined : JSON.parse(text);
      const seen = { method: raw.method ?? '', url: raw.url ?? '', headers: raw.headers, body };
      requests.push(seen);
      answer(seen, response, raw);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(value));
}

/** Answers every action with one envelope, and who the caller is. */
export const answersWith =
  (envelope: unknown, status = 200): Answer =>
  (request, response) => {
    if (request.url.startsWith('/v1/actions/')) return sendJson(response, status, envelope);
    if (request.url === '/v1/whoami') {
      const who = {
        serverId: 'srv',
        backendVersion: '0.1.0',
        tokenId: 'tok_1',
        kind: 'device',
        scope: {},
        surfaces: [],
      };
      return sendJson(response, 200, who);
    }
    if (request.url === '/readyz') return sendJson(response, 200, { status: 'ok' });
    sendJson(response, 404, {
      status: 'error',
      error: { code: 'not_found', message: 'no such path', retryable: false },
    });
  };
