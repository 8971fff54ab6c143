import { join } from 'node:path';
import type { Command } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { optional } from '../connection.ts';
import { givenServers, MCP_SERVERS_FIELD } from '../given-servers.ts';
import { createLogger, toLogLevel } from '../log.ts';
import { serve } from '../serve.ts';
import { count, flag, text, toLocalCommand } from './local-command.ts';

const nothing = () => '';

/** Commands that are processes: they run until they are told to end. */
export function processCommands(app: App, io: CliIo): Command[] {
  return [
    toLocalCommand({
      path: 'up',
      summary: 'Run a backend and a daemon on this machine, in the foreground. Ctrl-C stops both.',
      fields: {
        port: count('Port of the backend. The one of the last run, else any free one, if absent.'),
        open: { ...flag('Open the app in a browser.'), default: false },
        ...MCP_SERVERS_FIELD,
      },
      examples: [{ title: 'Run everything here', input: {} }],
      errors: ['conflict', 'state_damaged', 'invalid_input'],
      talks: true,
      toText: nothing,
      async run(input, { signal }) {
        const mcpServers = givenServers(app, input);
        const { runUp } = await import('../up.ts');
        return runUp(app, {
          ...(input.port === undefined ? {} : { port: input.port as number }),
          open: input.open === true,
          ...optional('mcpServers', mcpServers),
          signal,
          say: (line) => write(io.stdout, line),
          warn: (line) => void io.stderr.write(`${line}\n`),
        });
      },
    }),
    toLocalCommand({
      path: 'backend start',
      summary: 'Run the backend of this home in the foreground.',
      fields: {
        host: text('Address to bind; 127.0.0.1 if absent.'),
        port: count('Port. The one of the last run, else any free one, if absent.'),
        publicUrl: text('Address by which others reach it, behind a proxy that speaks TLS.'),
        allowPlainRemote: flag('Bind another address than this machine although HTTP here is plain.'),
      },
      examples: [{ title: 'Behind a proxy', input: { port: 7700, publicUrl: 'https://kaiwu.example.com' } }],
      errors: ['conflict', 'state_damaged', 'invalid_input'],
      talks: true,
      toText: nothing,
      async run(input, { signal }) {
        const { runBackend } = await import('../backend.ts');
        const log = createLogger({
          name: 'backend',
          level: toLogLevel(app.env.KAIWU_LOG),
          file: join(app.paths.logs, 'backend.log'),
        });
        const { url, port, stop } = await runBackend({ app, log, ...input });
        if (process.send === undefined) await write(io.stdout, `ready ${url}\n`);
        await serve({ ready: { url, port }, stop }, log, signal);
        return { stopped: true };
      },
    }),
  ];
}
