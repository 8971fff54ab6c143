import type { Command } from '../../surfaces/cli/command.ts';
import type { App } from '../app.ts';
import { optional } from '../connection.ts';
import { HOST_NAMES, type HostName, toHostConfig } from '../mcp-config.ts';
import { choice, toLocalCommand } from './local-command.ts';

export function mcpCommands(app: App): Command[] {
  const serve = (path: string, sameAs?: string) =>
    toLocalCommand({
      path,
      ...optional('sameAs', sameAs),
      summary: 'Serve an MCP host on stdin and stdout. The host starts this, not a person.',
      description:
        'Reads --server, --server-url and --session, and the active profile; no environment variable chooses the backend.',
      errors: ['not_authenticated', 'state_damaged'],
      // Started before commands are looked at; only its help comes this way.
      run: async () => ({}),
    });
  return [
    serve('mcp serve'),
    serve('mcp start', 'mcp serve'),
    toLocalCommand({
      path: 'mcp config',
      summary: 'Print what to paste into an MCP host so that it can use Kaiwu.',
      fields: { host: { ...choice('The host whose format to print.', HOST_NAMES), default: 'claude' } },
      examples: [{ title: 'For Codex', input: { host: 'codex' } }],
      async run(input, { flags }) {
        const host = (input.host ?? 'claude') as HostName;
        const { server, serverUrl, webappUrl, session } = flags;
        const given = [
          ...(server === undefined ? [] : ['--server', server]),
          ...(serverUrl === undefined ? [] : ['--server-url', serverUrl]),
          ...(webappUrl === undefined ? [] : ['--webapp-url', webappUrl]),
        ];
        const tail = session === undefined ? [] : ['--session', session];
        return { host, ...toHostConfig(app, host, [...given, ...tail]) };
      },
      toText: ({ config }) => String(config),
    }),
  ];
}
