import { KaiwuError } from '../../core/errors.ts';
import { removeStateFile } from '../../local/state-file.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { resolveTarget, type Target } from '../connection.ts';
import { daemonSummary, inspectDaemon, mismatch } from '../daemon-control.ts';
import { daemonLog, startDaemon, stopDaemon } from '../daemon-process.ts';
import { createLogger, toLogLevel } from '../log.ts';
import { serve } from '../serve.ts';
import { followLog, tailOf } from './log-tail.ts';
import { count, flag, type LocalCommand, toLocalCommand } from './local-command.ts';

export function daemonCommands(app: App, io: CliIo): Command[] {
  /** A command on the daemon of the profile that the flags choose. */
  const command = (
    path: string,
    spec: Omit<LocalCommand, 'path' | 'run'>,
    run: (target: Target, input: Record<string, unknown>, invocation: Invocation) => Promise<object>,
  ): Command =>
    toLocalCommand({
      path: `daemon ${path}`,
      errors: ['conflict', 'not_authenticated', 'state_damaged'],
      ...spec,
      run: async (input, invocation) =>
        run(await resolveTarget(app, invocation.flags, true), input, invocation),
    });

  return [
    command(
      'start',
      { summary: 'Start the daemon of this machine in the background.' },
      (target, _, { signal }) => start(app, target, signal),
    ),
    command('stop', { summary: 'Stop the daemon. Its running sessions end.' }, (target) => stop(app, target)),
    command(
      'restart',
      { summary: 'Stop the daemon if it runs, and start it.' },
      async (target, _, { signal }) => {
        const before = await stop(app, target);
        return { ...before, ...(await start(app, target, signal)) };
      },
    ),
    command(
      'status',
      { summary: 'Show whether the daemon runs, for which backend, and whether it survives a reboot.' },
      async (target) => ({
        profile: target.profile,
        ...(await daemonSummary(app, target)),
        log: daemonLog(app, target),
      }),
    ),
    command(
      'logs',
      {
        summary: 'Show the end of the daemon’s log.',
        fields: {
          lines: count('How many lines.', 50),
          follow: flag('Go on with what is written from now on.'),
        },
        examples: [{ title: 'Watch it', input: { follow: true } }],
        talks: true,
        toText: ({ lines }) => (lines as string[]).join('\n'),
      },
      async (target, { lines = 50, follow }, { signal }) => {
        const file = daemonLog(app, target);
        if (follow !== true) return { file, lines: await tailOf(file, lines as number) };
        await followLog(file, lines as number, io, signal);
        return { file, lines: [] };
      },
    ),
    command(
      'run',
      {
        summary: 'Run the daemon in the foreground, as a service manager does.',
        talks: true,
        toText: () => '',
      },
      async (target, _, { signal }) => {
        const { runDaemon } = await import('../daemon.ts');
        const log = createLogger({
          name: 'daemon',
          level: toLogLevel(app.env.KAIWU_LOG),
          file: daemonLog(app, target),
        });
        const { port, stop: end, failed } = await runDaemon({ app, target, log });
        await serve({ ready: { port }, stop: end, failed }, log, signal);
        return { stopped: true };
      },
    ),
  ];
}

/** Starts it unless it runs. A daemon of another version or backend is left running, and told. */
async function start(app: App, target: Target, signal: AbortSignal): Promise<object> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'running') {
    const note = mismatch(app, target, report.state);
    const { pid, version, url } = report.state;
    return { state: 'running', already: true, pid, version, url, ...(note === undefined ? {} : { note }) };
  }
  if (report.is === 'silent') throw silent(app, report.state.pid);
  const { pid, version, url } = await startDaemon(app, target, signal);
  return { state: 'running', pid, version, url };
}

/** Ends it if it is ours. A left-over file whose process is gone is cleared away, and nobody is signalled. */
async function stop(app: App, target: Target): Promise<object> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'absent') return { state: 'stopped', note: 'It was not running.' };
  if (report.is === 'stale') {
    await removeStateFile(target.paths.daemonState);
    return {
      state: 'stopped',
      note: `It was not running; the file of process ${report.state.pid} was left over.`,
    };
  }
  const { forced } = await stopDaemon(app, target, report.state);
  return { state: 'stopped', ...(forced ? { note: 'It did not end by itself and was killed.' } : {}) };
}

const silent = (app: App, pid: number): KaiwuError =>
  new KaiwuError('conflict', `The daemon (pid ${pid}) runs but does not answer.`, {
    hint: `Restart it: \`${app.channel} daemon restart\`.`,
  });
