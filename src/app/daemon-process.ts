import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../core/errors.ts';
import { ensurePrivateFolder } from '../local/private-folder.ts';
import type { DaemonState } from '../local/process-state.ts';
import { removeStateFile } from '../local/state-file.ts';
import type { App } from './app.ts';
import type { Target } from './connection.ts';
import { inspectDaemon } from './daemon-control.ts';

const START_MS = 30_000;
const STOP_MS = 15_000;
const LOOK_MS = 100;

export const daemonLog = (app: App, target: Target): string =>
  join(app.paths.logs, `daemon-${target.profile}.log`);

/**
 * Starts the daemon of a profile apart from this process, and waits until it answers.
 * @throws conflict when a process holds its lock without answering; internal with the end of its log when it dies
 */
export async function startDaemon(app: App, target: Target, signal: AbortSignal): Promise<DaemonState> {
  await ensurePrivateFolder(app.paths.logs);
  // What it says before its own log is open, and a crash of Node itself, would be lost otherwise.
  const output = openSync(`${daemonLog(app, target)}.out`, 'w', 0o600);
  const [node, binary] = app.command;
  const child = spawn(node, [binary, 'daemon', 'run', '--server', target.profile], {
    detached: true,
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
  for (
    const until = performance.now() + START_MS;
    performance.now() < until && !signal.aborted;
    await sleep(LOOK_MS)
  ) {
    const report = await inspectDaemon(app, target);
    if (report.is === 'running') {
      child.unref();
      return report.state;
    }
    if (ended !== undefined) throw await didNotStart(app, target, ended);
  }
  child.kill('SIGKILL');
  throw await didNotStart(app, target, `no answer within ${START_MS / 1000} s`);
}

/** Ends a daemon that was verified to be ours: politely, then by force. */
export async function stopDaemon(app: App, target: Target, state: DaemonState): Promise<{ forced: boolean }> {
  const isThere = () => app.processes.startTime(state.pid) === state.startTime;
  process.kill(state.pid, 'SIGTERM');
  let forced = false;
  for (const until = performance.now() + STOP_MS; isThere(); await sleep(LOOK_MS)) {
    if (performance.now() < until || forced) continue;
    forced = true;
    process.kill(state.pid, 'SIGKILL');
  }
  if (forced) await removeStateFile(target.paths.daemonState);
  return { forced };
}

async function didNotStart(app: App, target: Target, why: string): Promise<KaiwuError> {
  const said = await readFile(`${daemonLog(app, target)}.out`, 'utf8').catch(() => '');
  const tail = said.trim().split('\n').slice(-3).join(' ').slice(-500);
  const message = `The daemon of profile ${target.profile} did not start (${why})${tail === '' ? '.' : `: ${tail}`}`;
  return new KaiwuError('internal', message, { hint: `Its log: \`${app.channel} daemon logs\`.` });
}
