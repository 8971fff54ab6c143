/** Bytes kept of the start and of the end of a line that is too long. */
const EDGE_BYTES = 1024;
const NEWLINE = 0x0a;
/** A buffer that one long line made larger than this is given back after it. */
const KEPT_CAPACITY = 1024 * 1024;
const EMPTY = new Uint8Array();

export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** The stream is over: what is left is a line too. */
  end(): void;
}

/**
 * Cuts a stream of bytes into lines. A line is decoded as a whole, so no character is damaged by where the pieces were
 * cut, and the buffer doubles, so its bytes are copied a bounded number of times however small the pieces are.
 */
export function createLineSplitter(options: {
  /** Longest line, bytes. A longer one is dropped up to its end. */
  maxBytes: number;
  onLine(line: string): void;
  /** A line has become too long; its end may never come. */
  onTooLong?(): void;
  /** The end of such a line has come; its start and its end are all that is left. */
  onDropped?(head: string, tail: string): void;
}): LineSplitter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let buffer = EMPTY;
  let used = 0;
  /** Set while a line that is too long goes by. */
  let dropped: { head: Uint8Array; tail: Uint8Array } | undefined;

  function keep(part: Uint8Array): void {
    if (dropped !== undefined) {
      dropped.tail = join(dropped.tail, part.subarray(-EDGE_BYTES)).slice(-EDGE_BYTES);
    } else if (used + part.length > options.maxBytes) {
      const held = buffer.subarray(0, used);
      dropped = {
        head: join(held.subarray(0, EDGE_BYTES), part.subarray(0, EDGE_BYTES)).slice(0, EDGE_BYTES),
        tail: join(held.subarray(-EDGE_BYTES), part.subarray(-EDGE_BYTES)).slice(-EDGE_BYTES),
      };
      buffer = EMPTY;
      used = 0;
      options.onTooLong?.();
    } else {
      if (used + part.length > buffer.length) grow(used + part.length);
      buffer.set(part, used);
      used += part.length;
    }
  }

  function grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, buffer.length * 2, 4096));
    larger.set(buffer.subarray(0, used));
    buffer = larger;
  }

  function finish(part: Uint8Array): void {
    if (used === 0 && dropped === undefined && part.length <= options.maxBytes) {
      return options.onLine(decoder.decode(part));
    }
    keep(part);
    if (dropped !== undefined) {
      const { head, tail } = dropped;
      dropped = undefined;
      return options.onDropped?.(decoder.decode(head), decoder.decode(tail));
    }
    const line = decoder.decode(buffer.subarray(0, used));
    used = 0;
    if (buffer.length > KEPT_CAPACITY) buffer = EMPTY;
    options.onLine(line);
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        finish(chunk.subarray(from, at));
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end() {
      if (used > 0 || dropped !== undefined) finish(EMPTY);
    },
  };
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
