import { type Frame, toFrame } from '../../core/frame.ts';
import { createLineSplitter } from '../../core/lines.ts';
import { MANAGED_LIMITS } from '../../core/managed/managed.ts';
import { OWN_ID, TOO_LARGE } from '../link/ids.ts';

/** Bytes without a line break after which a program is no longer listened to. */
const FLOOD = 4 * MANAGED_LIMITS.message;
const NEWLINE = 0x0a;
/** Lines within one span of time after which a program is no longer listened to: they cost all that we have. */
const SPATE = { lines: 200_000, spanMs: 10_000 };

export interface MessageReader {
  push(chunk: Buffer): void;
  end(): void;
  noiseLines(): number;
}

/** Reads messages, a line each, from a program's output, whatever else it prints there. */
export function createMessageReader(options: {
  now(): Date;
  onMessage(message: Frame): void;
  onFlood(why: string): void;
}): MessageReader {
  let noise = 0;
  let sinceBreak = 0;
  let span = { lines: 0, from: options.now().getTime() };

  function isSpate(): boolean {
    span.lines += 1;
    if (span.lines <= SPATE.lines) return false;
    const now = options.now().getTime();
    if (now - span.from < SPATE.spanMs) return true;
    span = { lines: 1, from: now };
    return false;
  }

  function read(line: string): void {
    if (isSpate()) {
      options.onFlood(`it sent more than ${SPATE.lines} lines within ${SPATE.spanMs / 1000} s`);
      return;
    }
    const batch = line.startsWith('[') ? toBatch(line) : undefined;
    if (batch !== undefined) {
      for (const message of batch) options.onMessage(message);
      return;
    }
    const { noise: before, message } = toFrame(line);
    if (before !== '') noise += 1;
    if (message !== undefined) options.onMessage(message);
  }

  const lines = createLineSplitter({
    maxBytes: MANAGED_LIMITS.message,
    onLine: read,
    onDropped(head, tail) {
      noise += 1;
      // Whoever waits for it hears so at once.
      const id = OWN_ID.exec(head)?.[1] ?? OWN_ID.exec(tail)?.[1];
      if (id === undefined) return;
      const message = `more than ${MANAGED_LIMITS.message} bytes`;
      options.onMessage({ jsonrpc: '2.0', id, error: { code: TOO_LARGE, message } });
    },
  });
  return {
    push(chunk) {
      const last = chunk.lastIndexOf(NEWLINE);
      sinceBreak = last === -1 ? sinceBreak + chunk.length : chunk.length - last - 1;
      if (sinceBreak > FLOOD) options.onFlood(`it sent ${FLOOD / 1024 / 1024} MiB without a line break`);
      else lines.push(chunk);
    },
    end: () => lines.end(),
    noiseLines: () => noise,
  };
}

/** Servers of revision 2025-03-26 may answer several requests in one line. */
function toBatch(line: string): Frame[] | undefined {
  try {
    const values: unknown = JSON.parse(line);
    const isBatch = Array.isArray(values) && values.length > 0 && values.every((value) => isMessage(value));
    return isBatch ? (values as Frame[]) : undefined;
  } catch {
    return undefined;
  }
}

const isMessage = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
