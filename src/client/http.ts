import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
  type RequestOptions,
} from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fromWireError, KaiwuError, type WireError } from '../core/errors.ts';
import { toBaseUrl } from './base-url.ts';
import { notABackend, redirected, toTransportError } from './http-errors.ts';
import { lookUp } from './loopback.ts';
import type { ProxySettings } from './proxy.ts';

export interface HttpOptions {
  /** Address of the backend; a path prefix is kept. */
  url: string;
  token?: string;
  /** Version of this program, for the User-Agent. */
  version: string;
  /** PEM text of a certificate authority that is trusted beside the public ones. */
  ca?: string;
  proxy?: ProxySettings;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Begins with a slash. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** Bytes in place of a JSON body, sent as they come. What it throws is thrown. */
  stream?: AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Milliseconds until the whole answer is here. */
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Undefined for an empty body. */
  json: unknown;
}

/** Requests to one backend. */
export interface Http {
  readonly url: string;
  /** @throws backend_unreachable | canceled | timeout; HTTP error statuses are answers */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** An answer that is read as it comes, until `silenceMs` pass without a byte. Its errors are Node's own. */
  open(request: Omit<HttpRequest, 'timeoutMs'> & { silenceMs: number }): Promise<IncomingMessage>;
}

/** Most bytes of one answer. */
const MAX_ANSWER = 64 * 1024 * 1024;
const CONNECT_MS = 10_000;

/** How to reach the address: what a request to it takes beside its own part. */
type Route = { request: typeof requestHttp; options: RequestOptions & { ca?: string[] } };

export function createHttp(options: HttpOptions): Http {
  const url = toBaseUrl(options.url);
  const identity = {
    accept: 'application/json',
    'user-agent': `kaiwu/${options.version}`,
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
  };
  let route: Promise<Route> | undefined;
  const find = () => (route ??= url.startsWith('https:') ? secureRoute(url, options) : plainRoute());

  /** Settles when the head of the answer is there. */
  async function begin(
    { method, path, query, body, stream, headers, signal }: Omit<HttpRequest, 'timeoutMs'>,
    silenceMs?: number,
  ): Promise<IncomingMessage> {
    const { request, options: how } = await find();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
    const content =
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const all = {
        ...how,
        lookup: lookUp,
        method,
        signal,
        headers: { ...identity, ...content, ...headers },
      };
      const asked = request(url + path + search, all, resolve);
      asked.on('error', reject);
      limitConnecting(asked);
      if (silenceMs !== undefined) asked.setTimeout(silenceMs, () => asked.destroy(tookTooLong()));
      if (stream === undefined) asked.end(text);
      else pipeline(Readable.from(stream, { objectMode: false }), asked).catch(reject);
    });
  }

  return {
    url,
    open: ({ silenceMs, ...request }) => begin(request, silenceMs),
    async send({ timeoutMs, signal, ...request }) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), timeoutMs);
      try {
        const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
        const answer = await begin({ ...request, signal: either });
        const status = answer.statusCode ?? 0;
        const text = (await buffer(limited(answer))).toString('utf8');
        // Refused in the middle: the rest is not sent.
        if (request.stream !== undefined && status >= 400) answer.socket.destroy();
        if (status >= 300 && status < 400 && status !== 304) throw redirected(url, answer.headers.location);
        return { status, headers: answer.headers, json: parseJson(url, status, answer.headers, text) };
      } catch (error) {
        if (late.signal.aborted && !signal?.aborted) {
          throw new KaiwuError(
            'timeout',
            `The backend at ${url} did not answer within ${timeoutMs / 1000} s.`,
          );
        }
        throw toTransportError(error, url, signal?.aborted ?? false);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function plainRoute(): Promise<Route> {
  return { request: requestHttp, options: { agent: new HttpAgent({ keepAlive: true }) } };
}

/** TLS is loaded only where the backend speaks it: on one machine it does not. */
async function secureRoute(url: string, { ca, proxy }: HttpOptions): Promise<Route> {
  const [{ request }, { rootCertificates }, { createTlsAgent }] = await Promise.all([
    import('node:https'),
    import('node:tls'),
    import('./tls-agent.ts'),
  ]);
  const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  return { request, options: { agent: createTlsAgent(url, proxy), ...trusted } };
}

/** A name that does not resolve or a host that drops packets is given up on long before the call's own limit. */
function limitConnecting(asked: ReturnType<typeof requestHttp>): void {
  asked.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => asked.destroy(tookTooLong()), CONNECT_MS);
    const done = () => clearTimeout(timer);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done).once('close', done);
  });
}

async function* limited(answer: IncomingMessage): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw Object.assign(new Error('answer too large'), { code: 'answer too large' });
    yield chunk;
  }
}

const tookTooLong = () => Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' });

function parseJson(url: string, status: number, headers: HttpAnswer['headers'], text: string): unknown {
  if (text === '') return undefined;
  const type = String(headers['content-type'] ?? '');
  if (!type.includes('json')) throw notABackend(url, status, type);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw notABackend(url, status, `${type} that is not whole`);
  }
}

/** Fails unless the answer is a success with a JSON object. */
export function expectOk(http: Http, answer: HttpAnswer): Record<string, unknown> {
  const { json, status } = answer;
  if (typeof json !== 'object' || json === null) throw notABackend(http.url, status, undefined);
  const { error } = json as { error?: WireError };
  if (status < 400) return json as Record<string, unknown>;
  if (typeof error !== 'object' || error === null || typeof error.code !== 'string') {
    throw notABackend(http.url, status, 'JSON of another kind');
  }
  throw fromWireError(error);
}
