import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { bareEnv, type CliOptions, type CliResult, KAIWU, makeFolder, runKaiwu } from './kaiwu.ts';
import { descendantsOf, type Seen, waitGone } from './processes.ts';

/** A whole Kaiwu of its own: home, backend, daemon, and this machine signed in. */
export interface World {
  /** KAIWU_HOME. */
  home: string;
  /** Address of the backend. */
  url: string;
  /** Environment of every process that shall use it. */
  env: Record<string, string>;
  /** Pid of `kaiwu up`. */
  pid: number;
  /** Runs the command line in it. */
  cli(args: string[], options?: CliOptions): Promise<CliResult>;
  /** What `kaiwu up` has written so far. */
  output(): { stdout: string; stderr: string };
  /** Kills `kaiwu up` without warning, as a crash would. Its children must end by themselves; `stop` checks that. */
  kill(): Promise<void>;
  /** Ends everything. @throws when a process is left, after killing it */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
// A test run that is cut off leaves nothing behind either.
process.on('exit', () => {
  for (const child of running) killGroup(child);
});

/** Starts `kaiwu up --no-open` in a temporary home and waits for its `ready` line. */
export async function startWorld(
  options: { env?: Record<string, string>; home?: string } = {},
): Promise<World> {
  const home = options.home ?? (await makeFolder('kaiwu-world-'));
  const env = { ...bareEnv(home), ...options.env };
  await mkdir(env.HOME!, { recursive: true });
  const child = spawn(process.execPath, [KAIWU, 'up', '--no-open'], {
    env,
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said.stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said.stderr += part));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let before: Seen[] = [];

  const url = await readyUrl(child, said).catch(async (error: unknown) => {
    killGroup(child);
    await exited;
    running.delete(child);
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const pid = child.pid!;

  return {
    home,
    url,
    env,
    pid,
    cli: (args, cliOptions = {}) =>
      runKaiwu(args, { cwd: home, ...cliOptions, env: { ...env, ...cliOptions.env } }),
    output: () => ({ ...said }),
    async kill() {
      before = descendantsOf(pid);
      process.kill(pid, 'SIGKILL');
      await exited;
    },
    async stop() {
      if (!running.has(child)) return;
      before = [...before, ...descendantsOf(pid)];
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      const timer = setTimeout(() => killGroup(child), 25_000);
      await exited;
      clearTimeout(timer);
      running.delete(child);
      const left = await waitGone(before, 10_000);
      for (const { pid: stray } of left) process.kill(stray, 'SIGKILL');
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
      if (left.length > 0) {
        const names = left.map(({ pid: stray, command }) => `${stray} ${command}`).join('; ');
        throw new Error(`kaiwu up left processes behind: ${names}\n${said.stderr}`);
      }
    },
  };
}

function readyUrl(child: ChildProcess, said: { stdout: string; stderr: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const url = /^ready (\S+)$/m.exec(said.stdout)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout!.on('data', look);
    child.once('close', (code) =>
      reject(new Error(`kaiwu up ended with ${code}:\n${said.stdout}${said.stderr}`)),
    );
    setTimeout(
      () => reject(new Error(`kaiwu up is not ready:\n${said.stdout}${said.stderr}`)),
      50_000,
    ).unref();
  });
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
