import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('child.ts', import.meta.url));

/** A process that runs a job of `child.ts`. */
export interface Child {
  /** The next line that it prints; an error with its stderr when it has ended. */
  line(): Promise<string>;
  /** The lines that it prints from now on, up to `done` or to its end. */
  rest(): Promise<string[]>;
  /** Lets it go on. */
  go(): void;
  /** kill -9, and waits for its end. */
  kill(): Promise<void>;
}

export function spawnChild(job: string, ...args: string[]): Child {
  return spawnLimited([], job, ...args);
}

/** The same, with options of Node for it. */
export function spawnLimited(options: string[], job: string, ...args: string[]): Child {
  const child = spawn(process.execPath, [...options, '--import', 'tsx', SCRIPT, job, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const reader = createInterface({ input: child.stdout });
  const lines = on(reader, 'line', { close: ['close'] });
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await lines.next();
    return done === true ? undefined : String(value[0]);
  };
  return {
    line: async () => {
      const line = await next();
      if (line === undefined) throw new Error(`the child has ended: ${stderr}`);
      return line;
    },
    rest: async () => {
      const all: string[] = [];
      for (let line = await next(); line !== undefined; line = await next()) {
        all.push(line);
        if (line === 'done') break;
      }
      return all;
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
