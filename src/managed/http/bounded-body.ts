import type { IncomingMessage } from 'node:http';

const LF = 0x0a;
const CR = 0x0d;
const EMPTY_LINES = ['\n\n', '\r\n\r\n', '\r\r'];

/** @throws what `tooLarge` makes, when more than `maxBytes` come. `cut`: the rest is let go instead. */
export async function readWhole(
  message: IncomingMessage,
  maxBytes: number,
  tooLarge: 'cut' | (() => Error),
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      if (tooLarge !== 'cut') throw tooLarge();
      break;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * A stream of events, as a body that is read as it comes: whole lines at a time, however small the pieces are in which they
 * arrive, so that reading them costs the same; one event at most `maxBytes`.
 */
export function toEventBody(
  message: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
): ReadableStream<Uint8Array> {
  let held: Buffer[] = [];
  const count = createEventCounter();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        message.on('data', (chunk: Buffer) => {
          const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
          if (count(chunk) > maxBytes) {
            controller.error(tooLarge());
            message.destroy();
            return;
          }
          if (end === 0) {
            held.push(chunk);
            return;
          }
          held.push(chunk.subarray(0, end));
          controller.enqueue(held.length === 1 ? held[0]! : Buffer.concat(held));
          held = end === chunk.length ? [] : [chunk.subarray(end)];
          if ((controller.desiredSize ?? 0) <= 0) message.pause();
        });
        message.once('end', () => {
          if (held.length > 0) controller.enqueue(Buffer.concat(held));
          controller.close();
        });
        message.once('error', (error) => controller.error(error));
      },
      pull: () => void message.resume(),
      cancel: () => void message.destroy(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 256 * 1024 }),
  );
}

/** Counts the bytes of the event that is coming: an empty line ends one, wherever the pieces are cut. */
function createEventCounter(): (chunk: Buffer) => number {
  let size = 0;
  let endsLine = false;
  return (chunk) => {
    const isBreak = (byte: number | undefined) => byte === LF || byte === CR;
    let end = EMPTY_LINES.reduce((last, line) => {
      const found = chunk.lastIndexOf(line);
      return found === -1 ? last : Math.max(last, found + line.length);
    }, 0);
    if (end === 0 && endsLine && isBreak(chunk[0])) end = 1;
    size = end === 0 ? size + chunk.length : chunk.length - end;
    endsLine = isBreak(chunk.at(-1));
    return size;
  };
}
