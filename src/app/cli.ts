import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import type { ActionManifest } from '../core/spec.ts';
import type { Channel } from '../local/home.ts';
import { type Command, toCommands } from '../surfaces/cli/command.ts';
import { type CliIo, ignoreBrokenPipes } from '../surfaces/cli/io.ts';
import { runCli } from '../surfaces/cli/run.ts';
import { type App, binaryOf, createApp } from './app.ts';
import { agentCommands } from './commands/agents.ts';
import { appCommand } from './commands/app.ts';
import { authCommands } from './commands/auth.ts';
import { daemonCommands } from './commands/daemon.ts';
import { withFileCommands } from './commands/file-commands.ts';
import { mcpCommands } from './commands/mcp.ts';
import { processCommands } from './commands/processes.ts';
import { serverCommands } from './commands/server.ts';
import { voiceCommands } from './commands/voice.ts';
import { programName } from './program-name.ts';
import { runAction } from './run-action.ts';
import { VERSION } from './version.ts';

/** Everything but the fast paths of `main`: reads a line, runs its command, ends the process with its exit code. */
export async function runCommandLine(channel: Channel, argv: string[]): Promise<never> {
  const io = processIo();
  ignoreBrokenPipes(io);
  const code = await runCli({
    program: channel,
    typed: programName({ channel, binary: binaryOf(channel), env: process.env }),
    argv,
    commands: await allCommands(channel, io),
    io,
    version: VERSION,
    signal: interruption(),
    onError: (error) => {
      const { stack, message } = error as Partial<Error>;
      if (process.env.KAIWU_LOG === 'debug') io.stderr.write(`${stack ?? message ?? String(error)}\n`);
    },
  });
  // All output has left: nothing that is still open (a kept connection, a lock) may hold the process.
  process.exit(code);
}

async function allCommands(channel: Channel, io: CliIo): Promise<Command[]> {
  const app = homeOrLater(channel);
  const manifests = JSON.parse(
    await readFile(new URL('./catalog.json', import.meta.url), 'utf8'),
  ) as ActionManifest[];
  return [
    ...processCommands(app, io),
    ...daemonCommands(app, io),
    ...serverCommands(app),
    appCommand(app),
    ...authCommands(app),
    ...agentCommands(app, io),
    ...mcpCommands(app),
    ...voiceCommands(app),
    ...withFileCommands(
      app,
      toCommands(manifests, (...call) => runAction(app, ...call)),
      manifests,
      io,
    ),
  ];
}

/** Help needs no home: without one, only a command that uses it fails. */
function homeOrLater(channel: Channel): App {
  try {
    return createApp(channel, process.env);
  } catch (error) {
    return new Proxy({} as App, {
      get: () => {
        throw error;
      },
    });
  }
}

function processIo(): CliIo {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = isatty(1);
  return {
    stdin,
    stdout,
    stderr,
    cwd: process.cwd(),
    ...(isTerminal ? { width: stdout.columns } : {}),
    timeZone: ownTimeZone(),
    color: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
    progress: isatty(2) && env.TERM !== 'dumb' && env.CI === undefined,
  };
}

/** TZ may name a zone that nobody knows. */
function ownTimeZone(): string {
  try {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/**
 * Aborts at the first Ctrl-C or request to end; a second one ends the process at once. A supervised process may well hear
 * twice, once with its whole group and once from the supervisor, which also ends it if it takes too long.
 */
function interruption(): AbortSignal {
  const controller = new AbortController();
  // A terminal sends Ctrl-C to the whole group; the supervisor of this process will tell it when to end.
  const supervised = process.send !== undefined;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (supervised && name !== 'SIGTERM') return;
      if (controller.signal.aborted && !supervised) process.exit(130);
      controller.abort();
    });
  }
  if (supervised) process.on('disconnect', () => controller.abort());
  if (supervised && !process.connected) controller.abort();
  return controller.signal;
}
