import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../../core/ports/host.ts';
import { HOST_METHODS, type HostMethod } from '../../../core/spec.ts';
import { HOST_SHAPES } from '../host-methods.ts';
import type { HostSide } from '../host-side.ts';
import { readLine, type RequestId, type WireMessage } from '../messages.ts';
import type { ToolResult } from '../result.ts';
import { HostHungUp } from '../timing.ts';
import type { ToolCall } from '../sdk.ts';
import type { McpTool } from '../tools.ts';
import { readBody, sendError, sendJson } from './exchange.ts';
import { createOpenCalls } from './open-calls.ts';
import {
  clientNameOf,
  type Era,
  eraOf,
  isStateless,
  LIST_HINTS,
  RPC,
  RpcError,
  type ServerInfo,
  toDiscovered,
  toInitialized,
  toResult,
} from './protocol.ts';
import { createWatchers } from './watchers.ts';

export interface DoorHandlers {
  listTools(): Promise<McpTool[]>;
  callTool(call: ToolCall): Promise<ToolResult>;
  host: HostSide;
}

export interface DoorLimits {
  /** Longest message, bytes. */
  maxBodyBytes: number;
  /** Of all messages that are being read or answered together, bytes. */
  maxHeldBytes: number;
  /** Requests that one door answers at a time. */
  maxOpen: number;
  /** Streams that wait for changes. */
  maxStreams: number;
}

/** Hosts of one door that shook hands and are remembered. */
const MAX_HOSTS = 32;
const LABEL = 'mcp-session-id';

/** What stands behind one bearer: an MCP server for the hosts that hold it. It keeps nothing that a host must come back to. */
export interface Door {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  toolsChanged(): void;
  /** Ends what is open; nothing more is served. */
  close(): void;
}

export function createDoor(options: {
  info: ServerInfo;
  handlers: DoorHandlers;
  limits: DoorLimits;
  log: Logger;
}): Door {
  const { info, handlers, limits } = options;
  /** Names of the hosts that shook hands, by the label that each was given for its later requests. */
  const hosts = new Map<string, string | undefined>();
  const calls = createOpenCalls(info, handlers);
  const watchers = createWatchers(handlers.host, limits.maxStreams);
  const responses = new Set<ServerResponse>();
  let heldBytes = 0;

  const labelOf = ({ headers }: IncomingMessage): string | undefined => {
    const label = headers[LABEL];
    return typeof label === 'string' && hosts.has(label) ? label : undefined;
  };

  function forget(label: string): void {
    hosts.delete(label);
    watchers.forget(label);
  }

  function shakeHands(message: WireMessage, id: RequestId, response: ServerResponse): void {
    const label = randomUUID();
    const [oldest] = hosts.keys();
    if (hosts.size >= MAX_HOSTS && oldest !== undefined) forget(oldest);
    hosts.set(label, clientNameOf(message));
    const answer = { jsonrpc: '2.0', id, result: toInitialized(info, message.params) };
    sendJson(response, 200, answer, { [LABEL]: label });
  }

  async function answer(
    message: WireMessage,
    id: RequestId,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    const era = eraOf(message, request.headers);
    const label = labelOf(request);
    const send = (result: Record<string, unknown>) =>
      sendJson(response, 200, { jsonrpc: '2.0', id, result: toResult(era, info, result) });
    switch (`${era} ${message.method}`) {
      case 'handshake initialize':
        return shakeHands(message, id, response);
      case 'handshake ping':
        return send({});
      case 'stateless server/discover':
        return send(toDiscovered(info));
      case 'handshake tools/list':
      case 'stateless tools/list':
        requireFirstPage(message.params);
        return send({ tools: await handlers.listTools(), ...(era === 'handshake' ? {} : LIST_HINTS) });
      case 'handshake tools/call':
      case 'stateless tools/call':
        return calls.answer({
          message,
          id,
          era,
          request,
          response,
          label,
          clientName: hosts.get(label ?? ''),
        });
      case 'stateless subscriptions/listen':
        return watchers.listen(message, id, response);
      case 'handshake resources/subscribe':
        await watchers.subscribe(label, message.params?.['uri'], hosts.get(label ?? ''));
        return send({});
      case 'handshake resources/unsubscribe':
        watchers.unsubscribe(label, message.params?.['uri']);
        return send({});
      default:
        return send(await answerHost(message, era, label, response));
    }
  }

  async function answerHost(
    message: WireMessage,
    era: Era,
    label: string | undefined,
    response: ServerResponse,
  ): Promise<Record<string, unknown>> {
    const method = HOST_METHODS.find((each) => each === message.method);
    if (method === undefined) {
      throw new RpcError(RPC.methodNotFound, 'Method not found', era === 'handshake' ? 200 : 404);
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort(new HostHungUp()));
    const request = {
      method,
      params: message.params ?? {},
      clientName: clientNameOf(message) ?? hosts.get(label ?? ''),
      signal: gone.signal,
    };
    const result = await handlers.host.answer(request);
    return era === 'handshake' ? result : { ...result, ...hintsOf(method) };
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      throw new RpcError(RPC.refused, 'the content type must be application/json', 415);
    }
    let own = 0;
    response.once('close', () => (heldBytes -= own));
    const hold = (bytes: number) => {
      if (heldBytes + bytes > limits.maxHeldBytes) throw tooBusy();
      heldBytes += bytes;
      own += bytes;
    };
    const received = readLine(await readBody(request, limits.maxBodyBytes, hold));
    const [first] = received;
    if (first === undefined || received.length > 1) {
      throw new RpcError(RPC.invalidRequest, 'one message a request; a batch is not taken', 400);
    }
    if ('refuse' in first) return sendJson(response, 400, first.refuse);
    if ('ignore' in first) return sendJson(response, 202);
    const message = first.pass;
    if (message.id !== undefined) {
      try {
        return await answer(message, message.id, request, response);
      } catch (error) {
        if (!(error instanceof RpcError))
          options.log.error({ error, method: message.method }, 'MCP request failed');
        const known =
          error instanceof RpcError ? error : new RpcError(RPC.internal, 'the request failed inside Kaiwu');
        return sendError(response, inWordsOf(known, message), message.id);
      }
    }
    if (message.method === 'notifications/cancelled') {
      calls.cancel(labelOf(request), message.params?.['requestId']);
    }
    sendJson(response, 202);
  }

  function serve(request: IncomingMessage, response: ServerResponse): Promise<void> | void {
    if (request.method === 'POST') return post(request, response);
    if (request.method === 'GET' && (request.headers.accept ?? '').includes('text/event-stream')) {
      watchers.open(labelOf(request), response);
      return;
    }
    if (request.method === 'DELETE') {
      forget(labelOf(request) ?? '');
      return sendJson(response, 200);
    }
    throw new RpcError(RPC.refused, 'Method not allowed', 405);
  }

  return {
    async serve(request, response) {
      if (responses.size >= limits.maxOpen + limits.maxStreams) {
        throw tooBusy();
      }
      responses.add(response);
      response.once('close', () => responses.delete(response));
      await serve(request, response);
    },
    toolsChanged: () => watchers.toolsChanged(),
    close() {
      watchers.close();
      calls.hangUp();
      for (const response of responses) response.destroy();
    },
  };
}

const tooBusy = () =>
  new RpcError(RPC.refused, 'too many requests at once; try again when some are answered', 429);

/** The list is one page, so no cursor was ever given out. */
function requireFirstPage(params: WireMessage['params']): void {
  const cursor = params?.['cursor'];
  if (cursor === undefined) return;
  throw new RpcError(RPC.invalidParams, `unknown cursor ${JSON.stringify(cursor).slice(0, 80)}`);
}

const hintsOf = (method: HostMethod): object =>
  HOST_SHAPES[method].isList === true
    ? LIST_HINTS
    : method === 'resources/read'
      ? { ...LIST_HINTS, ttlMs: 0 }
      : {};

/** The stateless generation has no code of its own for an address that leads nowhere. */
function inWordsOf(error: RpcError, message: WireMessage): RpcError {
  return error.code === RPC.resourceNotFound && isStateless(message)
    ? new RpcError(RPC.invalidParams, error.message, error.status, error.data)
    : error;
}
