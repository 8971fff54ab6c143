import type { CliIo } from './io.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
/** Nothing is drawn for what is quick, milliseconds. */
const PATIENCE_MS = 400;

/** Shows on a terminal that work goes on, and for how long. @returns ends it and clears the line */
export function startSpinner(io: Pick<CliIo, 'stderr' | 'progress'>, label: string): () => void {
  if (!io.progress) return () => undefined;
  const startedAt = performance.now();
  let frame = 0;
  let drawn = false;
  const timer = setInterval(() => {
    const ms = performance.now() - startedAt;
    if (ms < PATIENCE_MS) return;
    drawn = true;
    io.stderr.write(`\r${FRAMES[frame++ % FRAMES.length]} ${label} ${Math.floor(ms / 1000)} s`);
  }, FRAME_MS);
  return () => {
    clearInterval(timer);
    if (drawn) io.stderr.write('\r\u001b[2K');
  };
}
