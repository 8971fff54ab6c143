import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../core/ports/host.ts';
import { createLineSplitter } from '../../core/lines.ts';
import { readLine, refuseTooLong, type Refusal, type RequestId, type WireMessage } from './messages.ts';

/** Longest line that is read. The backend's own limit is lower and answers with a code of the error table. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A host that asks without reading the answers is not listened to past this, bytes. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/** Requests that stay open for the whole connection and so are never waited for. */
const LASTING_METHODS = new Set(['subscriptions/listen']);

/** The two pipes to a host. Has the shape of the SDK's transports. */
export interface Wire {
  start(): Promise<void>;
  send(message: WireMessage | Refusal): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: WireMessage) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** Settles when the host has closed its end of the input, or no longer reads the output. */
  ended: Promise<'input' | 'output'>;
  /** Settles when every request that came in was answered or canceled. */
  answered(): Promise<void>;
  /** Settles when everything that was sent has left this process. */
  flushed(): Promise<void>;
}

export function createWire(options: {
  input: Readable;
  output: Writable;
  log: Logger;
  /** Hears of each answer that was sent. */
  onAnswer(): void;
}): Wire {
  const { input, output, log } = options;
  const open = new Set<RequestId>();
  let waiters: (() => void)[] = [];
  let unsent = 0;
  let closed = false;
  let end: (why: 'input' | 'output') => void;
  const ended = new Promise<'input' | 'output'>((resolve) => {
    end = resolve;
  });

  const settle = (id: RequestId) => {
    open.delete(id);
    wake();
  };
  const wake = () => {
    const woken = waiters;
    waiters = [];
    for (const waiter of woken) waiter();
  };
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((resolve) => waiters.push(resolve));
  };

  function receive(message: WireMessage): void {
    const { id, method, params } = message;
    if (id !== undefined && !LASTING_METHODS.has(method ?? '')) open.add(id);
    // A canceled request gets no answer.
    if (method === 'notifications/cancelled') settle(params?.['requestId'] as RequestId);
    wire.onmessage?.(message);
  }

  const splitter = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine(line) {
      const text = line.trim();
      if (text === '') return;
      for (const received of readLine(text)) {
        if ('pass' in received) receive(received.pass);
        else if ('refuse' in received) void wire.send(received.refuse);
        else log.warn({ what: received.ignore }, 'message ignored');
      }
    },
    onDropped: (head, tail) => void wire.send(refuseTooLong(head, tail, MAX_LINE_BYTES)),
  });

  const onData = (chunk: Buffer) => {
    splitter.push(chunk);
    if (output.writableLength > MAX_UNREAD_BYTES) {
      input.pause();
      output.once('drain', () => input.resume());
    }
  };
  const onInputEnd = () => {
    splitter.end();
    end('input');
  };

  const wire: Wire = {
    ended,
    async start() {
      input.on('data', onData);
      input.once('end', onInputEnd);
      input.once('close', () => end('input'));
      input.on('error', (error) => {
        log.warn({ error: error.message }, 'input failed');
        end('input');
      });
      // The host went away without a word: nothing can be said to it, and nothing needs to be.
      output.on('error', () => {
        closed = true;
        unsent = 0;
        wake();
        end('output');
      });
    },
    async send(message) {
      if (closed) return;
      unsent += 1;
      output.write(`${JSON.stringify(message)}\n`, () => {
        unsent -= 1;
        wake();
      });
      if (!('method' in message) && message.id !== undefined && message.id !== null) {
        settle(message.id);
        options.onAnswer();
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      input.off('data', onData);
      input.pause();
      wire.onclose?.();
    },
    answered: () => until(() => open.size === 0 || closed),
    flushed: () => until(() => unsent <= 0),
  };
  return wire;
}
