import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';

/** Bytes at the end of a log that are looked at. */
const TAIL_BYTES = 1024 * 1024;
const LOOK_MS = 300;

/** The last lines of a log; none when there is no log yet. */
export async function tailOf(file: string, lines: number): Promise<string[]> {
  const { text } = await readFrom(file, undefined);
  return text === '' ? [] : text.trimEnd().split('\n').slice(-lines);
}

/** Writes the last lines, then what is added, until `signal` aborts. */
export async function followLog(file: string, lines: number, io: CliIo, signal: AbortSignal): Promise<void> {
  let { text, end } = await readFrom(file, undefined);
  text = text
    .split('\n')
    .slice(-lines - 1)
    .join('\n');
  while (!signal.aborted) {
    if (text !== '') await write(io.stdout, toVisibleText(text));
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    ({ text, end } = await readFrom(file, end));
  }
}

/** Text from an offset on, or the tail without one. A log that became shorter was set aside and begins anew. */
async function readFrom(file: string, offset: number | undefined): Promise<{ text: string; end: number }> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new KaiwuError('state_damaged', `${file} cannot be read: ${error.code ?? 'unknown error'}.`);
  });
  if (handle === undefined) return { text: '', end: 0 };
  try {
    const { size } = await handle.stat();
    const from = offset === undefined ? Math.max(0, size - TAIL_BYTES) : offset > size ? 0 : offset;
    const length = Math.min(size - from, TAIL_BYTES);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, from);
    return { text: buffer.subarray(0, bytesRead).toString('utf8'), end: from + bytesRead };
  } finally {
    await handle.close();
  }
}
