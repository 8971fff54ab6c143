import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EndGraces, endGroup, groupGone } from './group.ts';
import type { Guardian } from './guardian.ts';

/** After its process has ended, how long what it wrote last may take to arrive. */
const DRAIN_MS = 500;

/** How a program ended. */
export interface ProgramExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why we ended it, where we did. */
  because?: string;
}

/** A program that leads a process group of its own. */
export interface Program {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has ended and what it wrote last has been read. */
  readonly exited: Promise<ProgramExit>;
  /**
   * Ends it and everything it started: end of input, SIGTERM to the group, SIGKILL to the group. Resolves when
   * nothing of it is left. The first caller's `because` counts, and so does what it lets go before.
   */
  end(because?: string, before?: () => Promise<unknown>): Promise<void>;
}

export interface ProgramOptions {
  command: string;
  args: readonly string[];
  directory: string;
  env: Record<string, string>;
  graces: EndGraces;
  guardian: Guardian;
}

/** Starts a program. @throws the system's error where it cannot be started */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.args, {
    cwd: options.directory,
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid as number));
    child.once('error', reject);
  });
  options.guardian.watch(pid);
  // Writing to a process that is gone is no news here: its exit is.
  child.stdin.on('error', () => {});
  child.on('error', () => {});

  let because: string | undefined;
  let ending: Promise<void> | undefined;
  const exited = whenExited(child).then((exit) => ({ ...exit, because }));

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
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    end: endOnce,
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
