import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  type MessageExtraInfo,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
} from '@modelcontextprotocol/client';
import { cutNesting, isDeeper, MAX_MESSAGE_NESTING, MAX_NESTING } from '../../core/managed/nesting.ts';
import type { OpenedTransport } from '../connection.ts';
import { isOwnId, toOwnId } from './ids.ts';

/** An error that a server answered. */
export class AnsweredError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The way is gone, and with it what was asked. */
export class LostError extends Error {}

/** Who we are, in every request of the generation that has no handshake. */
export interface Envelope {
  protocolVersion: string;
  clientInfo: { name: string; version: string };
}

/**
 * One way to a server, shared: the SDK's client has a face of it for the handshake, for what the server asks and for what it
 * tells, and may be replaced without a new process; our own requests go beside it, since one damaged tool or an unknown kind
 * of content must not spoil a whole answer.
 */
export interface Channel {
  /** A new face for a client of the SDK; the one before hears nothing any more. */
  face(): Transport;
  /** Set once the generation without handshake was chosen. */
  setEnvelope(envelope: Envelope): void;
  /**
   * Asks. When `signal` aborts the server is told, and what it still answers is ignored.
   * @throws AnsweredError | LostError | the signal's reason | what the transport throws
   */
  request(method: string, params: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
  /** The answer to the first question of the newer generation, where it came after we had turned to the older one. */
  lateDiscovery(): unknown;
  /** Resolves when the way is gone. */
  readonly gone: Promise<void>;
}

interface Open {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Message = Record<string, unknown>;

export function createChannel(opened: OpenedTransport, onError: (error: Error) => void): Channel {
  const { transport } = opened;
  const open = new Map<string, Open>();
  let face: Transport | undefined;
  let envelope: Envelope | undefined;
  let started: Promise<void> | undefined;
  let count = 0;
  let hasAskedOld = false;
  let lateDiscovery: unknown;
  let isGone = false;
  let tellGone = () => {};
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });

  function receive(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    const frame = message as Message;
    if (frame.method === undefined && isOwnId(frame.id)) return settle(frame.id, frame);
    // The SDK may write it again, and nothing that it knows is so deep.
    if (isDeeper(frame, MAX_MESSAGE_NESTING)) return;
    if (hasAskedOld && 'result' in frame && String(frame.id).startsWith('server-discover-probe-')) {
      lateDiscovery = frame.result;
      face?.onclose?.();
      return;
    }
    face?.onmessage?.(message, extra);
  }

  function end(): void {
    if (isGone) return;
    isGone = true;
    for (const { reject } of open.values()) reject(lost());
    open.clear();
    face?.onclose?.();
    tellGone();
  }

  Object.assign(transport, {
    onmessage: receive,
    onclose: end,
    onerror(error: Error) {
      onError(error);
      face?.onerror?.(error);
    },
  });

  const lost = () => new LostError(opened.whyGone() ?? 'the connection is gone');

  function settle(id: string, frame: Message): void {
    const request = open.get(id);
    if (request === undefined) return;
    open.delete(id);
    if (frame.error === undefined) request.resolve(frame.result);
    else request.reject(toAnsweredError(frame.error));
  }

  const withEnvelope = (params: Message): Message =>
    envelope === undefined
      ? params
      : {
          ...params,
          _meta: {
            [PROTOCOL_VERSION_META_KEY]: envelope.protocolVersion,
            [CLIENT_INFO_META_KEY]: envelope.clientInfo,
            [CLIENT_CAPABILITIES_META_KEY]: {},
          },
        };

  function tellCanceled(id: string): void {
    const message = {
      jsonrpc: '2.0' as const,
      method: 'notifications/cancelled',
      params: withEnvelope({ requestId: id, reason: 'canceled' }),
    };
    transport.send(message as JSONRPCMessage).catch(() => {});
  }

  return {
    face() {
      hasAskedOld = false;
      lateDiscovery = undefined;
      const mine: Transport = {
        ...('pid' in transport ? { pid: transport.pid, stderr: null } : {}),
        get sessionId() {
          return transport.sessionId;
        },
        get hasPerRequestStream() {
          return transport.hasPerRequestStream ?? false;
        },
        start: () => (isGone ? Promise.reject(lost()) : (started ??= transport.start())),
        send(message, options) {
          if ('method' in message && message.method === 'initialize') hasAskedOld = true;
          return transport.send(message, options);
        },
        close() {
          if (face === mine) face = undefined;
          mine.onclose?.();
          return Promise.resolve();
        },
        setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
        setSupportedProtocolVersions: (versions) => transport.setSupportedProtocolVersions?.(versions),
      };
      face = mine;
      return mine;
    },
    setEnvelope(given) {
      envelope = given;
    },
    request(method, params, signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (isGone) return Promise.reject(lost());
      const id = toOwnId(++count);
      // Over HTTP of the newer generation, ending the request's own stream is what tells the server.
      const stream =
        envelope !== undefined && transport.hasPerRequestStream === true ? new AbortController() : undefined;
      return new Promise<unknown>((resolve, reject) => {
        const onAbort = () => {
          if (!open.delete(id)) return;
          if (stream === undefined) tellCanceled(id);
          else stream.abort();
          reject(signal.reason as Error);
        };
        const done = () => signal.removeEventListener('abort', onAbort);
        open.set(id, {
          resolve(result) {
            done();
            resolve(result);
          },
          reject(error) {
            done();
            reject(error);
          },
        });
        signal.addEventListener('abort', onAbort, { once: true });
        const message = { jsonrpc: '2.0' as const, id, method, params: withEnvelope(params) };
        transport
          .send(message as JSONRPCMessage, stream === undefined ? {} : { requestSignal: stream.signal })
          .catch((error: Error) => {
            const request = open.get(id);
            open.delete(id);
            request?.reject(error);
          });
      });
    },
    lateDiscovery: () => lateDiscovery,
    gone,
  };
}

function toAnsweredError(error: unknown): AnsweredError {
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as Message;
  return new AnsweredError(
    typeof code === 'number' ? code : 0,
    typeof message === 'string' ? message : JSON.stringify(cutNesting(error, MAX_NESTING)).slice(0, 500),
  );
}
