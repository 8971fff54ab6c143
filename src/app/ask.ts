import { createInterface } from 'node:readline';
import { KaiwuError } from '../core/errors.ts';
import type { CliIo } from '../surfaces/cli/io.ts';

/** Whether a person sits there: a question can be read and answered. */
export const canAsk = ({ stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>): boolean =>
  [stdin, stderr].every((stream) => (stream as { isTTY?: boolean }).isTTY === true);

/** Asks on the terminal. @returns the answer; empty when the person ended the input. @throws canceled on Ctrl-C */
export function ask(
  question: string,
  { stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // The terminal itself edits the line, so that Ctrl-C stays what it is everywhere.
    const lines = createInterface({ input: stdin, terminal: false });
    const onAbort = () => {
      reject(new KaiwuError('canceled', 'Canceled. Nothing was changed.'));
      lines.close();
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve('');
    });
    stderr.write(question);
  });
}
