/** Bytes kept of the start and of the end of a line that is too long. */
const EDGE_BYTES = 1024;
const NEWLINE = 0x0a;
/** A buffer that grew past this is given back after its line. */
const KEPT_CAPACITY = 1024 * 1024;

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** The stream is over: what is left is a line too. */
  end(): void;
}

/**
 * Cuts a byte stream into lines. A line is decoded as a whole, so no character is ever damaged by where the pieces
 * were cut, and its bytes are copied once, however small the pieces are.
 */
export function createLineSplitter(options: {
  /** Longest line, bytes. A longer one is dropped up to its end. */
  maxBytes: number;
  onLine(line: string): void;
  /** A line was dropped; its start and its end are all that is left. */
  onTooLong(head: string, tail: string): void;
}): LineSplitter {
  let buffer = Buffer.alloc(0);
  let used = 0;
  /** Set while a line that is too long goes by. */
  let dropped: { head: Buffer; tail: Buffer } | undefined;

  function keep(part: Buffer): void {
    if (dropped !== undefined) {
      dropped.tail = Buffer.concat([dropped.tail, part.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
    } else if (used + part.length > options.maxBytes) {
      const start = Buffer.concat([
        buffer.subarray(0, Math.min(used, EDGE_BYTES)),
        part.subarray(0, EDGE_BYTES),
      ]);
      dropped = { head: start.subarray(0, EDGE_BYTES), tail: Buffer.from(part.subarray(-EDGE_BYTES)) };
      used = 0;
    } else {
      if (used + part.length > buffer.length) grow(used + part.length);
      part.copy(buffer, used);
      used += part.length;
    }
  }

  function grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, buffer.length * 2, 4096));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  }

  function finish(part: Buffer): void {
    if (used === 0 && dropped === undefined && part.length <= options.maxBytes) {
      return options.onLine(part.toString('utf8'));
    }
    keep(part);
    if (dropped === undefined) {
      const line = buffer.toString('utf8', 0, used);
      used = 0;
      if (buffer.length > KEPT_CAPACITY) buffer = Buffer.alloc(0);
      return options.onLine(line);
    }
    const { head, tail } = dropped;
    dropped = undefined;
    buffer = Buffer.alloc(0);
    options.onTooLong(head.toString('utf8'), tail.toString('utf8'));
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
      if (used > 0 || dropped !== undefined) finish(Buffer.alloc(0));
    },
  };
}
