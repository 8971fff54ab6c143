import type { IncomingMessage, ServerResponse } from 'node:http';
import { RPC, RpcError } from './protocol.ts';

/** A reader that leaves more than this unread is cut off, bytes. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

/**
 * The body as text.
 * @param hold hears of each part; what it throws ends the reading
 * @throws RpcError when it is longer than `maxBytes`; Error when the host went away
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (error: unknown) => {
      request.off('data', onData);
      chunks.length = 0;
      reject(error);
    };
    const tooLarge = () => {
      const message = `too large: the message is longer than ${maxBytes} bytes`;
      return new RpcError(RPC.invalidRequest, message, 413);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return refuse(tooLarge());
      try {
        hold(chunk.length);
      } catch (error) {
        return refuse(error);
      }
      chunks.push(chunk);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse(tooLarge());
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('close', () => reject(new Error('the host went away')));
  });
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(text);
}

/** An error of the protocol in the place of an answer. What was not read of the request is not waited for. */
export function sendError(
  response: ServerResponse,
  error: RpcError,
  id: string | number | null = null,
): void {
  const { code, message, data, status } = error;
  const headers: Record<string, string> = status === 413 ? { connection: 'close' } : {};
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  sendJson(response, status, toRpcError(id, code, message, data), headers);
}

export const toRpcError = (
  id: string | number | null,
  code: number,
  message: string,
  data?: Record<string, unknown>,
) => ({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });

/** Messages to a host, one after the other, on one answer that stays open. */
export interface MessageStream {
  send(message: object): void;
  end(): void;
}

export function openStream(response: ServerResponse): MessageStream {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const write = (text: string) => {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(text);
  };
  const timer = setInterval(() => write(': open\n\n'), KEEP_ALIVE_MS).unref();
  response.once('close', () => clearInterval(timer));
  return {
    send: (message) => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    end: () => response.end(),
  };
}
