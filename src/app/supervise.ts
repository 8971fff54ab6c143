import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERRORS, KaiwuError } from '../core/errors.ts';

export interface Ready {
  url?: string;
  port?: number;
}

export interface ChildOptions {
  name: string;
  command: readonly string[];
  /** Its environment; this process' own if absent. */
  env?: NodeJS.ProcessEnv;
  /** Called at each start that succeeded. */
  onReady(ready: Ready): void | Promise<void>;
  /** Hears of each end that was not asked for. */
  onExit(message: string): void;
  /** Aborted as soon as everything shall end: nothing is started any more. */
  signal: AbortSignal;
}

/** A child process that is started again whenever it dies. */
export interface Supervised {
  /** Settles with the first `ready`. @throws when the first start fails */
  readonly started: Promise<void>;
  /** SIGTERM, then SIGKILL after `graceMs`. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

const START_MS = 60_000;
const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 30_000;
/**
 * Ctrl-C in a terminal and `timeout` signal the whole process group, and a child may have ended before this process hears
 * of it. For so long, milliseconds, a child that ended as if it was told to is not missed.
 */
const SAME_SIGNAL_MS = 1000;
/** A child that lived this long, milliseconds, is restarted without the delay that earlier deaths earned. */
const SETTLED_MS = 60_000;

/** Starts a child that says `ready` over its IPC channel, and keeps it running. It ends by itself when the channel closes. */
export function supervise(options: ChildOptions): Supervised {
  const stopping = new AbortController();
  const ending = AbortSignal.any([stopping.signal, options.signal]);
  let child: ChildProcess | undefined;
  let delay = FIRST_DELAY_MS;

  async function runOnce(): Promise<{ ready: boolean; exit: string; code: number | null }> {
    const [file = '', ...args] = options.command;
    const running = spawn(file, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      windowsHide: true,
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    child = running;
    let ready = false;
    const timer = setTimeout(() => running.kill('SIGKILL'), START_MS);
    running.on('message', (message: { type?: unknown } & Ready) => {
      if (message.type !== 'ready') return;
      ready = true;
      clearTimeout(timer);
      // A failure here is one of the start: without it the child is of no use.
      void Promise.resolve(options.onReady(message)).then(resolveStarted, (error: unknown) => {
        rejectStarted(error);
        running.kill('SIGTERM');
      });
    });
    const startedAt = performance.now();
    const [code, signal] = await exitOf(running);
    clearTimeout(timer);
    child = undefined;
    if (performance.now() - startedAt > SETTLED_MS) delay = FIRST_DELAY_MS;
    return { ready, code, exit: signal === null ? `exit code ${code}` : signal };
  }

  let resolveStarted = () => {};
  let rejectStarted: (error: unknown) => void = () => {};
  const started = new Promise<void>((resolve, reject) => {
    resolveStarted = resolve;
    rejectStarted = reject;
  });
  // Also told to whoever awaits it; a stop before that must not count as unhandled.
  started.catch(() => undefined);

  const pause = (ms: number) => sleep(ms, undefined, { signal: ending }).catch(() => undefined);

  async function loop(): Promise<void> {
    for (let first = true; !ending.aborted; first = false) {
      const { ready, exit, code } = await runOnce();
      if (code === 0 || code === null) await pause(SAME_SIGNAL_MS);
      if (ending.aborted) return;
      const conflict = code === ERRORS.conflict.exit;
      // Later on another process may hold the lock for a while; this one goes on when it is gone.
      if (!ready && first) return rejectStarted(startFailed(options.name, exit, conflict));
      options.onExit(`${options.name} ended (${exit}); starting it again in ${delay / 1000} s`);
      await pause(delay);
      delay = Math.min(delay * 2, LAST_DELAY_MS);
    }
  }
  const done = loop();

  return {
    started,
    async stop(graceMs) {
      stopping.abort();
      child?.kill('SIGTERM');
      const timer = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      await done;
      clearTimeout(timer);
    },
  };
}

const exitOf = (child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> =>
  new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve([code, signal]));
    // It could not even be spawned.
    child.on('error', () => resolve([127, null]));
  });

const startFailed = (name: string, exit: string, conflict: boolean): KaiwuError =>
  new KaiwuError(conflict ? 'conflict' : 'internal', `The ${name} did not start (${exit}).`, {
    hint: 'Its own message stands above, and its log lies under the home, in logs/.',
  });
