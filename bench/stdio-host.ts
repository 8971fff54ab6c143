import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Answer {
  id?: number;
  result?: Record<string, unknown>;
}

/** The thinnest host: JSON lines in and out, so that what is timed is the server. */
export interface StdioHost {
  request(method: string, params?: unknown): Promise<Record<string, unknown>>;
  /** Resident memory of the process, MiB. */
  residentMiB(): number;
  close(): Promise<void>;
}

export function startHost(command: string, args: string[], env: NodeJS.ProcessEnv): StdioHost {
  const child: ChildProcessWithoutNullStreams = spawn(command, args, { env, stdio: 'pipe' });
  // Each open request listens for the end.
  child.setMaxListeners(0);
  child.stderr.resume();
  const open = new Map<number, (answer: Answer) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.id !== undefined) open.get(answer.id)?.(answer);
  });
  let nextId = 1;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    async request(method, params = {}) {
      const id = nextId++;
      const answered = new Promise<Answer>((resolve, reject) => {
        open.set(id, resolve);
        child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
      });
      send({ id, method, params });
      const answer = await answered;
      if (method === 'initialize') send({ method: 'notifications/initialized' });
      if (answer.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(answer)}`);
      return answer.result;
    },
    residentMiB() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
};

/** Milliseconds from spawn until the tool list is there. */
export async function timeToToolList(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const started = performance.now();
  const host = startHost(command, args, env);
  await host.request('initialize', INITIALIZE);
  await host.request('tools/list');
  const took = performance.now() - started;
  await host.close();
  return took;
}
