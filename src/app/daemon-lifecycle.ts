import { KaiwuError } from '../core/errors.ts';
import type { ServiceStatus } from '../daemon/service/service.ts';
import type { DaemonState } from '../local/process-state.ts';
import { removeStateFile } from '../local/state-file.ts';
import type { App } from './app.ts';
import { optional, type Target } from './connection.ts';
import { inspectDaemon, mismatch } from './daemon-control.ts';
import { awaitDaemon, startDaemon, stopDaemon } from './daemon-process.ts';
import { createDaemonService } from './daemon-service.ts';
import { inspectUp, LOCAL_PROFILE } from './local-profile.ts';

interface Started {
  state: 'running';
  /** It ran before. */
  already?: true;
  pid: number;
  version: string;
  url: string;
  note?: string;
}

/** Starts the daemon unless it runs. One of another version or backend is left running, and told. */
export async function startOnce(
  app: App,
  target: Target,
  signal: AbortSignal,
  mcpServers?: string,
): Promise<Started> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'running') {
    const notes = [mismatch(app, target, report.state), ...notTaken(app, mcpServers)];
    const note = notes.filter((part) => part !== undefined).join(' ') || undefined;
    const { pid, version, url } = report.state;
    return { state: 'running', already: true, pid, version, url, ...optional('note', note) };
  }
  if (report.is === 'silent') throw silent(app, report.state.pid);
  const { state, own } = await begin(app, target, signal, mcpServers);
  const { pid, version, url } = state;
  const note = own ? undefined : notTaken(app, mcpServers)[0];
  return { state: 'running', pid, version, url, ...optional('note', note) };
}

/** Whoever keeps it running starts it with what it knows. */
const notTaken = ({ channel }: App, mcpServers: string | undefined): string[] =>
  mcpServers === undefined
    ? []
    : [`It runs with the MCP servers that it was started with; \`${channel} daemon restart\` takes others.`];

/** Whoever keeps it running starts it, so that no second one comes beside it later. */
async function begin(
  app: App,
  target: Target,
  signal: AbortSignal,
  mcpServers: string | undefined,
): Promise<{ state: DaemonState; own: boolean }> {
  const service = createDaemonService(app, target);
  const { installed, active } = await service.status();
  const isKept = (await keeperOf(app, target)) !== undefined;
  if (!installed && !isKept) return { state: await startDaemon(app, target, signal, mcpServers), own: true };
  if (!active && !isKept) await service.start();
  return { state: await awaitDaemon(app, target, signal), own: false };
}

/** Pid of the `up` that starts this daemon again whenever it ends. */
async function keeperOf(app: App, target: Target): Promise<number | undefined> {
  const report = await inspectUp(app);
  const isKept = report.is === 'running' && report.state.keepsDaemon && target.profile === LOCAL_PROFILE;
  return isKept ? report.state.pid : undefined;
}

/** Ends the daemon, and says where it comes back by itself. */
export async function stopOurs(app: App, target: Target): Promise<object> {
  const { notes, byService } = await end(app, target);
  const { channel } = app;
  const keeper = await keeperOf(app, target);
  if (keeper !== undefined)
    notes.push(`\`${channel} up\` (pid ${keeper}) runs it and starts it again; end that one with Ctrl-C.`);
  if (byService)
    notes.push(
      `Its service starts it again at the next boot or login; \`${channel} daemon uninstall\` ends it for good.`,
    );
  return { state: 'stopped', ...optional('note', notes.join(' ') || undefined) };
}

export async function restartDaemon(
  app: App,
  target: Target,
  signal: AbortSignal,
  mcpServers?: string,
): Promise<Started> {
  const { notes } = await end(app, target);
  const started = await startOnce(app, target, signal, mcpServers);
  const note = [...notes, started.note].filter((part) => part !== undefined).join(' ') || undefined;
  return { ...started, ...optional('note', note) };
}

/**
 * Ends the daemon if it is ours; one that a service manager runs is ended by its manager, which would start it again
 * otherwise. A left-over file whose process is gone is cleared away, and nobody is signalled.
 */
async function end(app: App, target: Target): Promise<{ notes: string[]; byService: boolean }> {
  const report = await inspectDaemon(app, target);
  const service = createDaemonService(app, target);
  const { active } = await service.status();
  if (active) await service.stop();
  const notes: string[] = [];
  if (report.is === 'running' || report.is === 'silent') {
    const { forced } = await stopDaemon(app, report.state);
    if (forced) notes.push('It did not end by itself and was killed.');
  } else if (report.is === 'stale') {
    notes.push(`It was not running; the file of process ${report.state.pid} was left over.`);
  } else if (!active) notes.push('It was not running.');
  // A process that was killed leaves it behind.
  await removeStateFile(target.paths.daemonState);
  return { notes, byService: active };
}

/** @throws conflict while a daemon runs that was started by hand: ending it is the person's to decide */
export async function installDaemon(app: App, target: Target): Promise<ServiceStatus> {
  const report = await inspectDaemon(app, target);
  const service = createDaemonService(app, target);
  if (report.is === 'running' && !(await service.status()).active) {
    throw new KaiwuError('conflict', `The daemon runs already (pid ${report.state.pid}), started by hand.`, {
      hint: `Stop it, then install: \`${app.channel} daemon stop\`.`,
    });
  }
  return service.install();
}

const silent = (app: App, pid: number): KaiwuError =>
  new KaiwuError('conflict', `The daemon (pid ${pid}) runs but does not answer.`, {
    hint: `Restart it: \`${app.channel} daemon restart\`.`,
  });
