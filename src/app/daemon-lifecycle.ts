import { KaiwuError } from '../core/errors.ts';
import type { ServiceStatus } from '../daemon/service/service.ts';
import { removeStateFile } from '../local/state-file.ts';
import type { App } from './app.ts';
import type { Target } from './connection.ts';
import { inspectDaemon, mismatch } from './daemon-control.ts';
import { awaitDaemon, startDaemon, stopDaemon } from './daemon-process.ts';
import { createDaemonService } from './daemon-service.ts';

/** Starts the daemon unless it runs. One of another version or backend is left running, and told. */
export async function startOnce(
  app: App,
  target: Target,
  signal: AbortSignal,
  begin = startDaemon,
): Promise<object> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'running') {
    const note = mismatch(app, target, report.state);
    const { pid, version, url } = report.state;
    return { state: 'running', already: true, pid, version, url, ...(note === undefined ? {} : { note }) };
  }
  if (report.is === 'silent') throw silent(app, report.state.pid);
  const { pid, version, url } = await begin(app, target, signal);
  return { state: 'running', pid, version, url };
}

/** Ends the daemon if it is ours. A left-over file whose process is gone is cleared away, and nobody is signalled. */
export async function stopOurs(app: App, target: Target): Promise<object> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'absent') return { state: 'stopped', note: 'It was not running.' };
  if (report.is === 'stale') {
    await removeStateFile(target.paths.daemonState);
    return {
      state: 'stopped',
      note: `It was not running; the file of process ${report.state.pid} was left over.`,
    };
  }
  const service = await isService(app, target);
  const { forced } = await stopDaemon(app, target, report.state);
  const notes = [
    ...(forced ? ['It did not end by itself and was killed.'] : []),
    ...(service
      ? [`Its service manager starts it again; \`${app.channel} daemon uninstall\` ends it for good.`]
      : []),
  ];
  return { state: 'stopped', ...(notes.length === 0 ? {} : { note: notes.join(' ') }) };
}

export async function restartDaemon(app: App, target: Target, signal: AbortSignal): Promise<object> {
  // Asked before: the manager of a service starts it again by itself, and two would quarrel.
  const service = await isService(app, target);
  const stopped = await stopOurs(app, target);
  return { ...stopped, ...(await startOnce(app, target, signal, service ? awaitDaemon : startDaemon)) };
}

/** @throws conflict while a daemon runs that was started by hand: ending it is the person's to decide */
export async function installDaemon(app: App, target: Target): Promise<ServiceStatus> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'running' && !(await isService(app, target))) {
    throw new KaiwuError('conflict', `The daemon runs already (pid ${report.state.pid}), started by hand.`, {
      hint: `Stop it, then install: \`${app.channel} daemon stop\`.`,
    });
  }
  return createDaemonService(app, target).install();
}

const isService = async (app: App, target: Target): Promise<boolean> =>
  (await createDaemonService(app, target).status()).active;

const silent = (app: App, pid: number): KaiwuError =>
  new KaiwuError('conflict', `The daemon (pid ${pid}) runs but does not answer.`, {
    hint: `Restart it: \`${app.channel} daemon restart\`.`,
  });
