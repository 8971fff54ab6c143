import type { CliIo } from '../../surfaces/cli/io.ts';

/** Milliseconds between two lines, on a terminal and elsewhere. */
const DRAW_MS = 100;
const LINE_MS = 2000;

/** Says on stderr how far a file is: over itself on a terminal, in a line now and then elsewhere. */
export function createFileProgress(io: Pick<CliIo, 'stderr' | 'progress'>, total: number) {
  let done = 0;
  let saidAt = performance.now();
  let drawn = false;
  const line = () => `${toMegabytes(done)} of ${toMegabytes(total)} MB`;
  return {
    set(bytes: number) {
      done = bytes;
      const now = performance.now();
      if (now - saidAt < (io.progress ? DRAW_MS : LINE_MS)) return;
      saidAt = now;
      drawn = true;
      io.stderr.write(io.progress ? `\r\u001b[2K${line()}` : `${line()}\n`);
    },
    end() {
      if (io.progress && drawn) io.stderr.write('\r\u001b[2K');
      io.stderr.write(`${line()}\n`);
    },
  };
}

const toMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
