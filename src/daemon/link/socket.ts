import type { Agent } from 'node:http';
import { WebSocket } from 'ws';
import { LINK_MAX_FRAME } from '../../core/link.ts';

/** Why a connection ended or never came about. */
export interface SocketEnd {
  kind: 'failed' | 'unauthorized' | 'conflict';
  message: string;
}

export interface LinkSocket {
  send(text: string): void;
  unsentBytes(): number;
  end(why: SocketEnd): void;
}

const UNAUTHORIZED = 4401;
const CONFLICT = 4409;
const HANDSHAKE_MS = 15_000;

/** One WebSocket with a heartbeat. `onEnd` is called exactly once. */
export function openSocket(options: {
  url: string;
  token: string;
  agent?: Agent;
  ca?: string;
  limits: { pingMs: number; deadMs: number };
  monotonicMs(): number;
  onOpen(): void;
  onText(text: string): void;
  onEnd(end: SocketEnd): void;
}): LinkSocket {
  const { limits, monotonicMs } = options;
  const socket = new WebSocket(options.url, {
    headers: { authorization: `Bearer ${options.token}` },
    agent: options.agent,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: LINK_MAX_FRAME,
    perMessageDeflate: false,
  });
  let heardAt = monotonicMs();
  let heartbeat: NodeJS.Timeout | undefined;
  let ended = false;
  let lastError: string | undefined;

  function end(why: SocketEnd): void {
    if (ended) return;
    ended = true;
    clearInterval(heartbeat);
    socket.terminate();
    options.onEnd(why);
  }
  const heard = () => {
    heardAt = monotonicMs();
  };

  socket.on('open', () => {
    heard();
    heartbeat = setInterval(() => {
      const silentMs = monotonicMs() - heardAt;
      if (silentMs > limits.deadMs)
        end({ kind: 'failed', message: `nothing was heard for ${Math.round(silentMs / 1000)} s` });
      else socket.ping();
    }, limits.pingMs);
    options.onOpen();
  });
  socket.on('ping', heard);
  socket.on('pong', heard);
  socket.on('message', (data, isBinary) => {
    heard();
    if (!isBinary && !ended) options.onText((data as Buffer).toString('utf8'));
  });
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    response.resume();
    end({
      kind: status === 401 || status === 403 ? 'unauthorized' : 'failed',
      message: `the backend answered HTTP ${status}`,
    });
  });
  socket.on('error', (error) => {
    lastError = error.message || String((error as NodeJS.ErrnoException).code ?? error);
  });
  socket.on('close', (code, reason) => {
    const text = reason.toString();
    if (code === UNAUTHORIZED)
      end({ kind: 'unauthorized', message: text || 'the token is not valid any more' });
    else if (code === CONFLICT)
      end({ kind: 'conflict', message: text || 'another daemon is linked for this machine' });
    else
      end({
        kind: 'failed',
        message: lastError ?? `the link was closed (${code}${text === '' ? '' : `: ${text}`})`,
      });
  });

  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    unsentBytes: () => socket.bufferedAmount,
    end,
  };
}
