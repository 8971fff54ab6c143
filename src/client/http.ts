import { Agent as HttpAgent } from 'node:http';
import { rootCertificates } from 'node:tls';
import type { Got, OptionsInit } from 'got';
import { fromWireError, KaiwuError, type WireError } from '../core/errors.ts';
import { toBaseUrl } from './base-url.ts';
import { notABackend, redirected, toTransportError } from './http-errors.ts';
import { lookUp } from './loopback.ts';
import { createTlsAgent, type ProxySettings } from './proxy.ts';

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
  method: 'GET' | 'POST';
  /** Begins with a slash. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
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

type StreamOptions = Pick<OptionsInit, 'searchParams' | 'headers' | 'timeout'>;

/** Requests to one backend. */
export interface Http {
  readonly url: string;
  /** @throws backend_unreachable | canceled | timeout; HTTP error statuses are answers */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** A raw answer, read as it comes. Its errors are the library's own. */
  stream(path: string, options: StreamOptions): Promise<ReturnType<Got['stream']['get']>>;
}

/** Most bytes of one answer. */
const MAX_ANSWER = 64 * 1024 * 1024;
const CONNECT_MS = 10_000;

export function createHttp(options: HttpOptions): Http {
  const url = toBaseUrl(options.url);
  const base: OptionsInit = {
    agent: { http: new HttpAgent({ keepAlive: true }), https: createTlsAgent(url, options.proxy) },
    headers: {
      'user-agent': `kaiwu/${options.version}`,
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    },
    ...(options.ca === undefined
      ? {}
      : { https: { certificateAuthority: [...rootCertificates, options.ca] } }),
    dnsLookup: lookUp,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { lookup: CONNECT_MS, connect: CONNECT_MS, secureConnect: CONNECT_MS },
  };
  // Loaded at the first request: commands that make none start faster.
  let client: Promise<Got> | undefined;
  const load = () => (client ??= import('got').then(({ got }) => got.extend(base)));

  return {
    url,
    async stream(path, streamOptions) {
      const got = await load();
      return got.stream.get(url + path, streamOptions);
    },
    async send({ method, path, query, body, headers, signal, timeoutMs }) {
      try {
        const got = await load();
        const request = got(url + path, {
          method,
          ...(query === undefined ? {} : { searchParams: query }),
          ...(body === undefined ? {} : { json: body }),
          headers: { accept: 'application/json', ...headers },
          ...(signal === undefined ? {} : { signal }),
          timeout: { request: timeoutMs },
        });
        void request.on('downloadProgress', ({ transferred }) => {
          if (transferred > MAX_ANSWER) request.cancel('answer too large');
        });
        const { statusCode, headers: answered, body: text } = await request;
        if (statusCode >= 300 && statusCode < 400 && statusCode !== 304)
          throw redirected(url, answered.location);
        return { status: statusCode, headers: answered, json: parseJson(url, statusCode, answered, text) };
      } catch (error) {
        if ((error as { event?: unknown }).event === 'request' && !signal?.aborted) {
          throw new KaiwuError(
            'timeout',
            `The backend at ${url} did not answer within ${timeoutMs / 1000} s.`,
          );
        }
        throw toTransportError(error, url, signal?.aborted ?? false);
      }
    },
  };
}

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
