import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
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

/** Asks on the terminal for what nobody shall see: nothing of it is shown while it is typed. @throws canceled on Ctrl-C */
export function askHidden(
  question: string,
  { stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
    lines.once('SIGINT', () => {
      reject(new KaiwuError('canceled', 'Canceled. Nothing was changed.'));
      lines.close();
    });
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      stderr.write('\n');
      resolve('');
    });
    stderr.write(question);
  });
}
