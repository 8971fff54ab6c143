import { setMaxListeners } from 'node:events';
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
  type RequestOptions,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isPrivateAddress, isPublicAddress, refusePlain } from './address.ts';
import { readWhole, toEventBody } from './bounded-body.ts';
import { type Peer, refuseRedirect, toConnectionError, tooLarge } from './explain.ts';
import type { ManagedNetwork } from './network.ts';

export interface FetchOptions {
  network: ManagedNetwork;
  version: string;
  /** Who is asked, for messages. */
  peer: Peer;
  /** PEM text of the authorities that are trusted, all of them; default those of Node. */
  ca?: string[];
  /** Milliseconds until a connection stands. */
  connectMs: number;
  /** Milliseconds until the head of an answer is there; default no limit. */
  headMs?: number;
  /** Bytes of one answer, and of one event of a stream. */
  maxBytes: number;
  /** Whether what is asked carries a secret, which plain http may take to this machine and private networks alone. */
  isSecret: boolean;
}

/** The network as the SDK wants it, over Node's own client: one set of connections, bounded, its errors told in words. */
export interface BoundedFetch {
  /** `onTooLarge` hears why a body that is read as it comes was ended. */
  fetch: (input: string | URL, init?: RequestInit & { onTooLarge?(error: Error): void }) => Promise<Response>;
  /** Ends every connection. */
  close(): void;
}

/** Bytes of an answer that refuses; nobody needs more of it. */
const REFUSAL_BYTES = 64 * 1024;
const NO_BODY = new Set([204, 205, 304]);

export function createFetch(options: FetchOptions): BoundedFetch {
  const agents = new Map<string, Agent>();

  function agentFor(url: URL): Agent {
    const known = agents.get(url.origin);
    if (known !== undefined) return known;
    const agent = options.network.createAgent(new URL(url.origin));
    agents.set(url.origin, agent);
    return agent;
  }

  function begin(url: URL, init: RequestInit, headers: Headers): Promise<IncomingMessage> {
    // One signal may end many requests at once.
    if (init.signal) setMaxListeners(0, init.signal);
    const isSecret = options.isSecret || headers.has('authorization');
    const isPlain = url.protocol === 'http:';
    if (isPlain && isSecret && isPublicAddress(url.hostname)) throw refusePlain(url);
    const how: RequestOptions & { ca?: string[] } = {
      agent: agentFor(url),
      method: init.method ?? 'GET',
      headers: Object.fromEntries(headers),
      lookup: isPlain && isSecret ? privateLookup(options.network, url) : options.network.lookup,
      ...(options.ca === undefined || isPlain ? {} : { ca: options.ca }),
    };
    return new Promise((resolve, reject) => {
      const asked = (isPlain ? requestHttp : requestHttps)(url, how, resolve);
      asked.on('error', reject);
      // An end before there is a connection is told by no event.
      const end = (error: Error) => {
        reject(error);
        asked.destroy(error);
      };
      limit(asked, options, () => end(tookTooLong()));
      if (init.signal) endWith(init.signal, asked, end);
      asked.end(bodyOf(init));
    });
  }

  return {
    fetch: async (input, init = {}) => {
      const url = new URL(input);
      const headers = toOwnHeaders(init);
      headers.set('user-agent', `kaiwu/${options.version}`);
      headers.set('accept-encoding', 'identity');
      const body = bodyOf(init);
      if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
      try {
        return await toResponse(await begin(url, init, headers), url, {
          ...options,
          ...(init.onTooLarge === undefined ? {} : { onTooLarge: init.onTooLarge }),
        });
      } catch (error) {
        if (init.signal?.aborted === true) throw init.signal.reason;
        throw toConnectionError(error, url, options.peer);
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** The headers of a request, to be changed: those of the SDK are made anew for each. */
export const toOwnHeaders = ({ headers }: RequestInit): Headers =>
  headers instanceof Headers ? headers : new Headers(headers);

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  return typeof body === 'string' ? body : (body as URLSearchParams).toString();
}

async function toResponse(
  message: IncomingMessage,
  url: URL,
  { maxBytes, peer, onTooLarge }: FetchOptions & { onTooLarge?(error: Error): void },
): Promise<Response> {
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  if (status < 200 || status > 599) {
    message.destroy();
    throw Object.assign(new Error('status'), { code: `it answers with HTTP ${status}` });
  }
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null && !isSameOrigin(url, location)) {
    message.destroy();
    throw refuseRedirect(url, location, peer);
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    message.destroy();
    throw Object.assign(new Error('encoding'), {
      code: 'it answers in a compressed form that nobody asked for',
    });
  }
  const init = { status, headers };
  if (NO_BODY.has(status)) {
    message.resume();
    return new Response(null, init);
  }
  const isStream = status < 300 && (headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (isStream) {
    const end = (): Error => {
      const error = tooLarge(url, maxBytes);
      onTooLarge?.(error);
      return error;
    };
    return new Response(toEventBody(message, maxBytes, end), init);
  }
  const whole =
    status < 400
      ? await readWhole(message, maxBytes, () => tooLarge(url, maxBytes))
      : await readWhole(message, REFUSAL_BYTES, 'cut');
  return new Response(new Uint8Array(whole), init);
}

/** The same scheme, host and port, or the same host over TLS. */
function isSameOrigin(from: URL, location: string): boolean {
  if (!URL.canParse(location, from.href)) return false;
  const to = new URL(location, from);
  const isUpgrade =
    from.protocol === 'http:' && to.protocol === 'https:' && to.host === from.host && to.port === '';
  return to.origin === from.origin || isUpgrade;
}

const tookTooLong = () => Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' });

function endWith(signal: AbortSignal, asked: ClientRequest, end: (error: Error) => void): void {
  const abort = () => end(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  asked.once('close', () => signal.removeEventListener('abort', abort));
}

function limit(asked: ClientRequest, { connectMs, headMs }: FetchOptions, giveUp: () => void): void {
  // Runs from the start: a proxy that does not answer gives no socket at all.
  const connecting = setTimeout(giveUp, connectMs);
  const head = headMs === undefined ? undefined : setTimeout(giveUp, headMs);
  asked.once('socket', (socket) => {
    if (!socket.connecting) return clearTimeout(connecting);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
  });
  asked.once('response', () => clearTimeout(head));
  asked.once('close', () => {
    clearTimeout(connecting);
    clearTimeout(head);
  });
}

/** Finds only addresses of this machine and of private networks: whatever a name server says, no secret goes further. */
function privateLookup(network: ManagedNetwork, url: URL): ManagedNetwork['lookup'] {
  return (host, options, answered) =>
    network.lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null || typeof found === 'string') return answered(error, found);
      const near = found.filter(({ address }) => isPrivateAddress(address));
      const [first] = near;
      if (first === undefined) return answered(refusePlain(url), []);
      if (options.all === true) return answered(null, near);
      answered(null, first.address, first.family);
    });
}
