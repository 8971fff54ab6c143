import {
  type AuthProvider,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { BoundedFetch } from './create-fetch.ts';
import { createExchanges } from './exchanges.ts';
import { explainHttp, toStatus, unavailable } from './explain.ts';

export interface HttpTransportOptions {
  url: URL;
  fetch: BoundedFetch['fetch'];
  headers: Record<string, string>;
  auth: AuthProvider;
  /** Milliseconds that a fallback, and a renewal of the session, may take. */
  connectMs: number;
  startMs: number;
}

/** The SDK's transports over HTTP as one that does not give up: see {@link createHttpTransport}. */
export interface HttpTransport extends Transport {
  readonly kind: 'http' | 'sse';
  /** Tells that a stream was refused since its session is forgotten. */
  noteLost(sessionId: string): void;
  /** Why the way is gone, once it is by itself. */
  whyGone(): string | undefined;
  /** Tells the server that the session is over. */
  endSession(): Promise<void>;
}

/** Refusals of the first message that do not mean a server of the older kind. */
const NOT_OLD = new Set([401, 403, 407, 408, 429]);
const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;
/** Pauses, milliseconds, and attempts before a broken stream is given up. */
const RESUME = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 20,
};

/**
 * Streamable HTTP, or SSE where the server refuses the handshake as only older ones do. A forgotten session (404) is begun anew
 * once, however many requests meet it, and each of them is sent once more. The promise of a request holds until its answer is
 * there, so that a stream that breaks for good fails the request and nothing else.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { url } = options;
  const exchanges = createExchanges(url, options.fetch);
  const common = {
    fetch: exchanges.fetch,
    requestInit: { headers: options.headers },
    authProvider: options.auth,
  };
  const streamable = new StreamableHTTPClientTransport(url, { ...common, reconnectionOptions: RESUME });
  let inner: Transport = streamable;
  let handshake: JSONRPCRequest | undefined;
  let version: string | undefined;
  let renewing: Promise<void> | undefined;
  let renewals = 0;
  let isClosed = false;
  let whyGone: string | undefined;
  /** Requests in a row that were refused with 400. */
  let badRequests = 0;
  /** Requests that were called off while a session was begun anew, before they were sent in it. */
  let withdrawn = new Set<unknown>();

  const transport: HttpTransport = {
    get kind() {
      return inner === streamable ? 'http' : 'sse';
    },
    get hasPerRequestStream() {
      return inner === streamable;
    },
    get sessionId() {
      return streamable.sessionId;
    },
    start: () => inner.start(),
    setProtocolVersion(next) {
      version = next;
      inner.setProtocolVersion?.(next);
    },
    async send(message, how) {
      const ended = canceledId(message);
      if (renewing !== undefined) {
        if (ended !== undefined && !exchanges.has(ended)) {
          withdrawn.add(ended);
          return;
        }
        await renewing.catch(() => undefined);
      }
      if (isJSONRPCRequest(message)) return request(message, how);
      try {
        await inner.send(message, how);
      } catch (error) {
        throw explainHttp(error, url);
      }
      if (ended !== undefined) exchanges.callOff(ended);
    },
    noteLost(sessionId) {
      if (sessionId === streamable.sessionId) renew().catch(tell);
    },
    whyGone: () => whyGone,
    endSession: () => (inner === streamable ? streamable.terminateSession() : Promise.resolve()),
    close: () => end(() => inner.close()),
  };

  async function end(close: () => Promise<void>, why?: string): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    whyGone = why;
    await close();
    exchanges.callOffAll();
    transport.onclose?.();
  }

  const tell = (error: unknown): void => transport.onerror?.(explainHttp(error, url));

  function listen(to: Transport): void {
    const hear = {
      onmessage(message: JSONRPCMessage) {
        const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
        if (!isAnswer || !String(message.id).startsWith(RENEWAL)) transport.onmessage?.(message);
        if (isAnswer) exchanges.answered(message);
      },
      onerror(error: Error) {
        tell(error);
        // A stream of the older kind is the session itself.
        if (to === inner && to !== streamable && error instanceof SseError)
          void end(() => to.close(), 'its stream of events broke');
      },
    };
    Object.assign(to, hear);
  }
  listen(streamable);

  async function request(message: JSONRPCRequest, how?: TransportSendOptions): Promise<void> {
    const isHandshake = isInitializeRequest(message);
    if (isHandshake) handshake = message;
    const used = streamable.sessionId;
    try {
      await exchange(message, how);
      badRequests = 0;
    } catch (error) {
      const status = toStatus(error);
      if (status === 400 && used !== undefined) void doubtSession();
      if (isHandshake && isRefusal(status)) {
        if (inner !== streamable || !(await fallBack())) throw explainHttp(error, url);
        await exchange(message, how).catch(explained);
        return;
      }
      // The client reads from a refused probe which generation the server is of.
      if (message.method === 'server/discover' && isRefusal(status)) throw error;
      if (status !== 404 || used === undefined || isHandshake) throw explainHttp(error, url);
      if (streamable.sessionId === used) await renew();
      await exchange(message, how).catch((again: unknown) => {
        if (toStatus(again) === 404) throw unavailable(url, 'it forgets each session as soon as it is begun');
        explained(again);
      });
    }
  }

  /**
   * Some servers answer 400 where they have forgotten a session. That alone says nothing of it, so the call stays refused; but
   * when it comes twice in a row and a ping is refused as well, the way is given up, to be opened anew.
   */
  async function doubtSession(): Promise<void> {
    if (++badRequests < 2) return;
    badRequests = 0;
    const ping = { jsonrpc: '2.0' as const, id: `${RENEWAL}${++renewals}`, method: 'ping' };
    const isRefused = await exchange(ping, { requestSignal: AbortSignal.timeout(options.connectMs) }).then(
      () => false,
      (error: unknown) => toStatus(error) === 400,
    );
    if (isRefused) await end(() => inner.close(), 'it no longer takes the session (HTTP 400)');
  }

  const explained = (error: unknown): never => {
    throw explainHttp(error, url);
  };

  const exchange = async (message: JSONRPCRequest, how?: TransportSendOptions) =>
    withdrawn.delete(message.id) ? undefined : exchanges.send(inner, message, how);

  function renew(): Promise<void> {
    if (renewing !== undefined) return renewing;
    withdrawn = new Set();
    renewing = beginAnew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function beginAnew(): Promise<void> {
    if (handshake === undefined) throw unavailable(url, 'it answers with HTTP 404');
    const params = { ...handshake.params, protocolVersion: version ?? handshake.params?.['protocolVersion'] };
    const limit = AbortSignal.timeout(options.startMs);
    const id = `${RENEWAL}${++renewals}`;
    const answer = await exchange({ ...handshake, id, params }, { requestSignal: limit }).catch(explained);
    if (answer === undefined) throw unavailable(url, 'it did not begin a new session in time');
    const agreed = isJSONRPCResultResponse(answer) ? answer.result['protocolVersion'] : undefined;
    if (agreed !== version) {
      void end(() => inner.close(), 'it begins sessions in another way than before');
      throw unavailable(url, 'it does not begin a new session as it began the last one');
    }
    await inner.send({ jsonrpc: '2.0', method: 'notifications/initialized' }).catch(explained);
    // It may be another program by now.
    transport.onmessage?.(LIST_CHANGED);
  }

  /** Whether the server takes the older way. */
  async function fallBack(): Promise<boolean> {
    const sse = new SSEClientTransport(url, common);
    const isOpen = await within(options.connectMs, sse.start());
    if (!isOpen) {
      await sse.close();
      return false;
    }
    await streamable.close();
    inner = sse;
    listen(sse);
    return true;
  }

  return transport;
}

const RENEWAL = 'kaiwu-renewal-';

/** What a server says that does not know a message; not that it lets nobody in or has no time. */
const isRefusal = (status: number | undefined): boolean =>
  status !== undefined && status >= 400 && status < 500 && !NOT_OLD.has(status);

/** Which request a notification calls off, if it does. */
function canceledId(message: JSONRPCMessage): unknown {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: unknown } | undefined)?.requestId;
}

/** Whether it succeeded in time. */
async function within(ms: number, attempt: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = attempt.then(
    () => true,
    () => false,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
