import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { decrypterOf } from './file-key.ts';

/** Bytes that are put together before the browser may move them out of memory. */
const PART_BYTES = 4 * 1024 * 1024;

/** The connection that a file came over broke, as against what came over it. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/**
 * The plain bytes of a ciphertext as they come. What is truncated or altered, or not what its description says, ends with an
 * error; so does a broken connection, as `ConnectionLost`.
 * @param onBytes bytes of the ciphertext that have come so far
 */
export async function decryptFile(
  source: ReadableStream<Uint8Array>,
  identity: string,
  expected: { sha256: string; sizeBytes: number },
  onBytes: (bytes: number) => void,
): Promise<ReadableStream<Uint8Array>> {
  const told = tell(source, onBytes);
  const decrypter = await decrypterOf(identity);
  const reader = (
    await decrypter.decrypt(told.stream).catch((error: unknown) => {
      throw told.broken() ?? error;
    })
  ).getReader();
  const hash = sha256.create();
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw told.broken() ?? error;
        });
        if (!done) {
          hash.update(value);
          size += value.byteLength;
          controller.enqueue(value);
        } else if (size === expected.sizeBytes && bytesToHex(hash.digest()) === expected.sha256) {
          controller.close();
        } else controller.error(new Error('not the file that was sent'));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Counts what passes, and keeps the error that it ended with: decryption does not hand it on as it is. */
function tell(source: ReadableStream<Uint8Array>, onBytes: (bytes: number) => void) {
  const reader = source.getReader();
  let broken: ConnectionLost | undefined;
  let come = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          come += value.byteLength;
          onBytes(come);
          controller.enqueue(value);
        } catch (cause) {
          broken = new ConnectionLost('the connection broke', { cause });
          throw broken;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { stream, broken: () => broken };
}

/** All of a stream, in parts that the browser may keep on its disk. */
export async function toBlob(stream: ReadableStream<Uint8Array>, type: string): Promise<Blob> {
  const parts: Blob[] = [];
  let loose: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob([...parts, ...loose], { type });
    loose.push(value as Uint8Array<ArrayBuffer>);
    bytes += value.byteLength;
    if (bytes < PART_BYTES) continue;
    parts.push(new Blob(loose));
    [loose, bytes] = [[], 0];
  }
}
