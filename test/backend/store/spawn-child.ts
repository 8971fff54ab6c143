import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('child.ts', import.meta.url));

/** A process that runs a job of `child.ts`. */
export interface Child {
  /** The next line that it prints; an error with its stderr when it has ended. */
  line(): Promise<string>;
  /** Lets it go on. */
  go(): void;
  /** kill -9, and waits for its end. */
  kill(): Promise<void>;
}

export function spawnChild(job: string, ...args: string[]): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, job, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const reader = createInterface({ input: child.stdout });
  const lines = on(reader, 'line', { close: ['close'] });
  return {
    line: async () => {
      const next = await lines.next();
      if (next.done === true) throw new Error(`the child has ended: ${stderr}`);
      return String(next.value[0]);
    },
    go: () => {
      child.stdin.write('go\n');
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
