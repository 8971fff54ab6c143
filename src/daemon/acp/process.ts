import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import { type EndGraces, endGroup, groupGone } from '../../process/group.ts';
import type { Guardian } from '../../process/guardian.ts';

/** How much of an agent's last error output is kept for messages, in characters. */
const STDERR_TAIL = 8 * 1024;
/** After its process has ended, how long what it wrote last may take to arrive. */
const DRAIN_MS = 500;

/** How an agent's process ended. */
export interface AgentExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderrTail: string;
  /** Why we ended it, where we did. */
  because?: string;
}

export interface AgentProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<AgentExit>;
  /**
   * Ends it and everything it started: end of input, SIGTERM to the group, SIGKILL to the group. Resolves when
   * nothing of it is left. The first caller's `because` counts, and so does what it lets go before.
   */
  end(because?: string, before?: () => Promise<unknown>): Promise<void>;
}

export interface SpawnOptions {
  command: string;
  args: string[];
  directory: string;
  env: Record<string, string>;
  graces: EndGraces;
  guardian: Guardian;
  /** Takes out of its error output what nobody may read. */
  redact(text: string): string;
  /** Hears what the agent prints on stderr. */
  onStderr(text: string): void;
}

/** Starts an agent as the leader of a process group of its own. @throws agent_failed */
export async function spawnAgent(options: SpawnOptions): Promise<AgentProcess> {
  const child = spawn(options.command, options.args, {
    cwd: options.directory,
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid as number));
    child.once('error', (cause) => {
      reject(
        new KaiwuError('agent_failed', `${options.command} cannot be started: ${cause.message}`, { cause }),
      );
    });
  });
  options.guardian.watch(pid);
  // Writing to a process that is gone is no news here: its exit is.
  child.stdin.on('error', () => {});
  child.on('error', () => {});
  const tail = readStderr(child, options);

  let because: string | undefined;
  let ending: Promise<void> | undefined;
  const exited = whenExited(child).then(({ code, signal }) => ({
    code,
    signal,
    stderrTail: tail(),
    because,
  }));

  async function end(): Promise<void> {
    child.stdin.end();
    if (!(await groupGone(pid, options.graces.inputEndMs))) await endGroup(pid, options.graces.termMs);
    options.guardian.forget(pid);
    // A grandchild outside the group may hold the pipes open; nobody reads them any more.
    child.stdout.destroy();
    child.stderr.destroy();
  }
  const endOnce = (why?: string, before?: () => Promise<unknown>): Promise<void> => {
    if (ending === undefined) {
      because = why;
      ending = before === undefined ? end() : before().then(end, end);
    }
    return ending;
  };
  // What it started may outlive it.
  void exited.then(() => endOnce());
  return { pid, stdin: child.stdin, stdout: child.stdout, exited, end: endOnce };
}

function readStderr(
  child: ChildProcessWithoutNullStreams,
  { redact, onStderr }: Pick<SpawnOptions, 'redact' | 'onStderr'>,
): () => string {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let tail = '';
  // Whole lines: half a secret would not be known for one.
  function put(text: string): void {
    const clean = redact(text);
    tail = (tail + clean).slice(-STDERR_TAIL);
    onStderr(clean);
  }
  child.stderr.on('data', (chunk: Buffer) => {
    line += decoder.write(chunk);
    const end = line.length > STDERR_TAIL ? line.length : line.lastIndexOf('\n') + 1;
    if (end === 0) return;
    put(line.slice(0, end));
    line = line.slice(end);
  });
  return () => {
    if (line !== '') put(line);
    line = '';
    return tail.trim();
  };
}

async function whenExited(child: ChildProcessWithoutNullStreams) {
  const drained = new Promise((resolve) => child.once('close', resolve));
  const exit = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  // What it wrote last counts, also where nobody was reading; it is no more than what a pipe holds.
  child.stdout.resume().on('pause', () => child.stdout.resume());
  await Promise.race([drained, sleep(DRAIN_MS)]);
  return exit;
}
