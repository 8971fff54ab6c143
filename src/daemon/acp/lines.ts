export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** Hands out what is left after the last newline. */
  end(): void;
}

const NEWLINE = 10;
const EMPTY = Buffer.alloc(0);
/** A buffer that one long line made this large is given back afterwards. */
const KEEP_BYTES = 1024 * 1024;

/**
 * Splits bytes into lines and decodes each as a whole, so that no character is cut. The buffer doubles, so each byte
 * is copied a bounded number of times however small the pieces are. Past `maxBytes` without a newline it calls
 * `onTooLong` once and takes nothing more.
 */
export function createLineSplitter(options: {
  maxBytes: number;
  onLine(line: string): void;
  onTooLong(): void;
}): LineSplitter {
  let held: Buffer = EMPTY;
  let length = 0;
  let closed = false;

  function hold(bytes: Buffer): void {
    const needed = length + bytes.length;
    if (needed > options.maxBytes) {
      closed = true;
      held = EMPTY;
      options.onTooLong();
      return;
    }
    if (needed > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, held.length * 2, 4096));
      held.copy(larger, 0, 0, length);
      held = larger;
    }
    bytes.copy(held, length);
    length = needed;
  }

  function emit(): void {
    const line = held.toString('utf8', 0, length);
    length = 0;
    if (held.length > KEEP_BYTES) held = EMPTY;
    options.onLine(line);
  }

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0 && !closed; end = bytes.indexOf(NEWLINE, start)) {
        hold(bytes.subarray(start, end));
        if (!closed) emit();
        start = end + 1;
      }
      if (!closed && start < bytes.length) hold(bytes.subarray(start));
    },
    end() {
      if (!closed && length > 0) emit();
      closed = true;
    },
  };
}
