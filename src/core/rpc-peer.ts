import { fromWireError, KaiwuError, toWireError } from './errors.ts';
import type { LinkFrame } from './link.ts';

type MethodTable = Record<string, { params: unknown; result: unknown }>;

/** Answers one request of the other end. Throwing a `KaiwuError` sends its code across. */
export type RpcHandlers<M extends MethodTable> = {
  [K in keyof M]: (params: M[K]['params']) => Promise<M[K]['result']>;
};

export interface RpcPeer<Remote extends MethodTable> {
  /** @throws what the other end threw; `timeout` after `timeoutMs`; `machine_offline` when the link closes */
  request<K extends keyof Remote & string>(
    method: K,
    params: Remote[K]['params'],
    timeoutMs: number,
  ): Promise<Remote[K]['result']>;
  notify(method: string, params: unknown): void;
  /** Feed it each frame that arrives. Damaged frames are ignored, unknown methods answered -32601. */
  receive(text: string): void;
  /** Rejects everything that is open. */
  close(): void;
}

interface OpenRequest {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

/** Both ends of the machine link are one of these over a socket that the owner keeps. */
export function createRpcPeer<Local extends MethodTable, Remote extends MethodTable>(options: {
  send(text: string): void;
  handlers: RpcHandlers<Local>;
  onNotice?(method: string, params: unknown): void;
  /** Hears of errors that are nobody's answer, for the log. */
  onError?(error: unknown): void;
}): RpcPeer<Remote> {
  const open = new Map<number, OpenRequest>();
  let nextId = 1;
  let closed = false;
  const send = (frame: LinkFrame) => {
    if (!closed) options.send(JSON.stringify(frame));
  };

  async function answer(id: number, method: string, params: unknown): Promise<void> {
    const handler = Object.hasOwn(options.handlers, method)
      ? options.handlers[method as keyof Local]
      : undefined;
    if (handler === undefined) {
      return send({ jsonrpc: '2.0', id, error: { code: -32601, message: `unknown method ${method}` } });
    }
    try {
      const result = await handler(params);
      send({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!(error instanceof KaiwuError)) options.onError?.(error);
      const data = toWireError(error);
      send({ jsonrpc: '2.0', id, error: { code: -32000, message: data.message, data } });
    }
  }

  function settle(
    id: number,
    frame: { result?: unknown; error?: { code: number; message: string; data?: unknown } },
  ) {
    const request = open.get(id);
    if (request === undefined) return;
    open.delete(id);
    clearTimeout(request.timer);
    if (frame.error === undefined) request.resolve(frame.result);
    else request.reject(toError(frame.error));
  }

  return {
    request(method, params, timeoutMs) {
      if (closed) return Promise.reject(linkClosed());
      const id = nextId++;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          open.delete(id);
          reject(new KaiwuError('timeout', `${method} was not answered within ${timeoutMs / 1000} s.`));
        }, timeoutMs);
        open.set(id, { resolve: resolve, reject, timer });
        send({ jsonrpc: '2.0', id, method, params });
      });
    },
    notify(method, params) {
      send({ jsonrpc: '2.0', method, params });
    },
    receive(text) {
      const frame = parse(text);
      if (frame === undefined) return;
      if (typeof frame.method === 'string') {
        if (typeof frame.id === 'number') void answer(frame.id, frame.method, frame.params);
        else options.onNotice?.(frame.method, frame.params);
      } else if (typeof frame.id === 'number') {
        settle(frame.id, frame);
      }
    },
    close() {
      closed = true;
      for (const request of open.values()) {
        clearTimeout(request.timer);
        request.reject(linkClosed());
      }
      open.clear();
    },
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === 'object' && frame !== null ? (frame as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const linkClosed = () =>
  new KaiwuError('machine_offline', 'The link to the machine closed before it answered.');

function toError(error: { code: number; message: string; data?: unknown }): Error {
  if (error.code === -32601) {
    return new KaiwuError('daemon_too_old', `The other end of the link is too old: ${error.message}.`, {
      hint: 'Update Kaiwu on both machines, then run `kaiwu daemon restart`.',
    });
  }
  const data = error.data as Parameters<typeof fromWireError>[0] | undefined;
  return data?.code === undefined ? new KaiwuError('internal', error.message) : fromWireError(data);
}
