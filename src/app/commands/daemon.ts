import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { optional, resolveTarget, type Target } from '../connection.ts';
import { daemonSummary } from '../daemon-control.ts';
import { installDaemon, restartDaemon, startOnce, stopOurs } from '../daemon-lifecycle.ts';
import { daemonLog } from '../daemon-process.ts';
import { createDaemonService } from '../daemon-service.ts';
import { givenServers, MCP_SERVERS_FIELD } from '../given-servers.ts';
import { createLogger, toLogLevel } from '../log.ts';
import { serve } from '../serve.ts';
import { count, flag, type LocalCommand, toLocalCommand } from './local-command.ts';
import { followLog, tailOf } from './log-tail.ts';

type Run = (target: Target, input: Record<string, unknown>, invocation: Invocation) => Promise<object>;

/** Commands on the daemon of the profile that the flags choose. */
export function daemonCommands(app: App, io: CliIo): Command[] {
  const command = (path: string, spec: Omit<LocalCommand, 'path' | 'run'>, run: Run): Command =>
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
      {
        summary: 'Start the daemon of this machine in the background.',
        fields: MCP_SERVERS_FIELD,
        errors: ['conflict', 'not_authenticated', 'state_damaged', 'invalid_input'],
      },
      (target, input, { signal }) => startOnce(app, target, signal, givenServers(app, input)),
    ),
    command('stop', { summary: 'Stop the daemon. Its running sessions end.' }, (target) =>
      stopOurs(app, target),
    ),
    command(
      'restart',
      {
        summary: 'Stop the daemon if it runs, and start it.',
        fields: MCP_SERVERS_FIELD,
        errors: ['conflict', 'not_authenticated', 'state_damaged', 'invalid_input'],
      },
      (target, input, { signal }) => restartDaemon(app, target, signal, givenServers(app, input)),
    ),
    command(
      'status',
      { summary: 'Show whether the daemon runs, for which backend, and whether it survives a reboot.' },
      async (target) => ({
        profile: target.profile,
        ...(await daemonSummary(app, target)),
        log: daemonLog(app, target),
        service: await createDaemonService(app, target).status(),
      }),
    ),
    command(
      'install',
      {
        summary: 'Make the daemon a service of this user, so that it starts by itself.',
        errors: ['conflict', 'unsupported', 'not_authenticated', 'state_damaged'],
      },
      (target) => installDaemon(app, target),
    ),
    command(
      'uninstall',
      {
        summary: 'End the service and forget it. Its running sessions end.',
        errors: ['unsupported', 'not_authenticated', 'state_damaged'],
      },
      (target) => createDaemonService(app, target).uninstall(),
    ),
    command(
      'logs',
      {
        summary: "Show the end of the daemon's log.",
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
        fields: MCP_SERVERS_FIELD,
        talks: true,
        toText: () => '',
      },
      async (target, input, { signal }) => {
        const mcpServers = givenServers(app, input);
        const { runDaemon } = await import('../daemon.ts');
        const log = createLogger({
          name: 'daemon',
          level: toLogLevel(app.env.KAIWU_LOG),
          file: daemonLog(app, target),
        });
        const { port, stop, failed } = await runDaemon({
          app,
          target,
          log,
          ...optional('mcpServers', mcpServers),
        });
        await serve({ ready: { port }, stop, failed }, log, signal);
        return { stopped: true };
      },
    ),
  ];
}
