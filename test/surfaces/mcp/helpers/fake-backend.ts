import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ActionCall, Envelope } from '../../../../src/core/call.ts';
import { ERRORS } from '../../../../src/core/errors.ts';
import type { FeedBody } from '../../../../src/core/feed.ts';
import { EMPTY_POLICY, type PolicyDocument, resolvePolicy } from '../../../../src/core/policy.ts';
import type { ActionManifest } from '../../../../src/core/spec.ts';

export interface ReceivedCall extends ActionCall {
  authorization: string | undefined;
}

/** Answers one call. `signal` aborts when the caller goes away. */
export type Answer = (call: ReceivedCall, signal: AbortSignal) => Envelope | Promise<Envelope>;

/** A peer that speaks the backend's HTTP API and answers as the test says. It decides nothing by itself. */
export interface FakeBackend {
  readonly url: string;
  readonly port: number;
  /** Every call, in order. */
  calls: ReceivedCall[];
  /** Names of requests: `GET /v1/catalog 304`. */
  requests: string[];
  /** Change streams that are open now. */
  streams: Set<ServerResponse>;
  answer: Answer;
  policy: PolicyDocument;
  /** Lets catalog requests wait for ever. */
  hangCatalog: boolean;
  setPolicy(rules: PolicyDocument['rules']): void;
  /** Actions came or went. */
  setCatalog(manifests: ActionManifest[]): void;
  /** Says it on every change stream. */
  emit(body: FeedBody): void;
  /** Takes the port away, with every connection. */
  stop(): Promise<void>;
  /** Back on the same port, or on a new one. */
  start(port?: number): Promise<void>;
}

export const TOKEN = 'test-token-0123456789';

export async function startFakeBackend(first: ActionManifest[]): Promise<FakeBackend> {
  let manifests = first;
  let revision = 0;
  const sockets = new Set<Socket>();
  let server = createServer();
  let eventId = 0;

  const backend: FakeBackend = {
    url: '',
    port: 0,
    calls: [],
    requests: [],
    streams: new Set(),
    policy: EMPTY_POLICY,
    hangCatalog: false,
    answer: ({ actionId, input }) => ({ status: 'ok', output: { actionId, input } }),
    setPolicy(rules) {
      backend.policy = { version: backend.policy.version + 1, rules };
      send({ type: 'policy.changed', version: backend.policy.version });
    },
    setCatalog(next) {
      manifests = next;
      revision += 1;
      send({ type: 'catalog.changed' });
    },
    emit: (body) => send(body),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async start(port = 0) {
      server = createServer((request, response) => void serve(request, response));
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address() as AddressInfo;
      Object.assign(backend, { port: address.port, url: `http://127.0.0.1:${address.port}` });
    },
  };

  const send = (body: FeedBody) => {
    eventId += 1;
    const data = JSON.stringify({ ...body, id: eventId, at: '2030-01-01T00:00:00Z' });
    for (const stream of backend.streams)
      stream.write(`id: ${eventId}\nevent: ${body.type}\ndata: ${data}\n\n`);
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', backend.url);
    const note = (status: number) => backend.requests.push(`${request.method} ${pathname} ${status}`);
    const reply = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      note(status);
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      const error = { code: 'not_authenticated', message: 'The token is not known.', retryable: false };
      return reply(401, { status: 'error', error });
    }
    if (pathname === '/v1/catalog') {
      if (backend.hangCatalog) return;
      const etag = `"fake-${backend.policy.version}-${revision}"`;
      if (request.headers['if-none-match'] === etag) {
        note(304);
        response.writeHead(304, { etag }).end();
        return;
      }
      const actions = manifests
        .map((manifest) => ({ ...manifest, policy: resolvePolicy(backend.policy, manifest, 'mcp') }))
        .filter(({ policy }) => policy.supported);
      const policyVersion = backend.policy.version;
      return reply(200, { surface: 'mcp', policyVersion, backendVersion: '0.0.0', actions }, { etag });
    }
    if (pathname === '/v1/events') {
      note(200);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: ready\nid: ${eventId}\ndata: {}\n\n`);
      backend.streams.add(response);
      response.on('close', () => backend.streams.delete(response));
      return;
    }
    if (pathname.startsWith('/v1/calls/')) return reply(200, { withdrawn: true });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Omit<ActionCall, 'actionId'>;
    const actionId = decodeURIComponent(pathname.replace('/v1/actions/', ''));
    const call = { ...body, actionId, authorization: request.headers.authorization };
    backend.calls.push(call);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const envelope = await backend.answer(call, gone.signal);
    if (gone.signal.aborted) return;
    if (envelope.status === 'error') return reply(ERRORS[envelope.error.code].http, envelope);
    reply(envelope.status === 'ok' ? 200 : 202, envelope);
  }

  await backend.start();
  return backend;
}
