import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../core/errors.ts';
import { ensurePrivateFolder } from '../local/private-folder.ts';
import type { DaemonState } from '../local/process-state.ts';
import type { App } from './app.ts';
import type { Target } from './connection.ts';
import { inspectDaemon } from './daemon-control.ts';
import { withGivenServers } from './given-servers.ts';

const START_MS = 30_000;
const STOP_MS = 15_000;
const LOOK_MS = 100;

export const daemonLog = (app: App, target: Target): string =>
  join(app.paths.logs, `daemon-${target.profile}.log`);

/**
 * Starts the daemon of a profile apart from this process, and waits until it answers.
 * @throws conflict when a process holds its lock without answering; internal with the end of its log when it dies
 */
export async function startDaemon(
  app: App,
  target: Target,
  signal: AbortSignal,
  mcpServers?: string,
): Promise<DaemonState> {
  await ensurePrivateFolder(app.paths.logs);
  // What it says before its own log is open, and a crash of Node itself, would be lost otherwise.
  const output = openSync(`${daemonLog(app, target)}.out`, 'w', 0o600);
  const [node, binary] = app.command;
  const child = spawn(node, [binary, 'daemon', 'run', ...target.selector], {
    detached: true,
    env: withGivenServers(app.env, mcpServers),
    stdio: ['ignore', output, output],
    windowsHide: true,
  });
  closeSync(output);
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('exit', (code, by) => {
    ended = by ?? `exit code ${code}`;
  });
  try {
    return await awaitDaemon(app, target, signal, () => ended);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    child.unref();
  }
}

/** Waits until the daemon of a profile answers. @param ended why it never will, once that is known */
export async function awaitDaemon(
  app: App,
  target: Target,
  signal: AbortSignal,
  ended: () => string | undefined = () => undefined,
): Promise<DaemonState> {
  for (
    const until = performance.now() + START_MS;
    performance.now() < until && !signal.aborted;
    await sleep(LOOK_MS)
  ) {
    const report = await inspectDaemon(app, target);
    if (report.is === 'running') return report.state;
    const why = ended();
    if (why !== undefined) throw await didNotStart(app, target, why);
  }
  throw await didNotStart(app, target, `no answer within ${START_MS / 1000} s`);
}

/** Ends a daemon that was verified to be ours: politely, then by force. */
export async function stopDaemon(app: App, state: DaemonState): Promise<{ forced: boolean }> {
  const isThere = () => app.processes.startTime(state.pid) === state.startTime;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (isThere()) process.kill(state.pid, name);
    } catch {
      // Gone between the look and the signal.
    }
  };
  signal('SIGTERM');
  let forced = false;
  for (const until = performance.now() + STOP_MS; isThere(); await sleep(LOOK_MS)) {
    if (performance.now() < until || forced) continue;
    forced = true;
    signal('SIGKILL');
  }
  return { forced };
}

async function didNotStart(app: App, target: Target, why: string): Promise<KaiwuError> {
  const said = await readFile(`${daemonLog(app, target)}.out`, 'utf8').catch(() => '');
  const tail = said.trim().split('\n').slice(-3).join(' ').slice(-500);
  const message = `The daemon of profile ${target.profile} did not start (${why})${tail === '' ? '.' : `: ${tail}`}`;
  return new KaiwuError('internal', message, { hint: `Its log: \`${app.channel} daemon logs\`.` });
}
