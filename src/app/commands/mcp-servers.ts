import { KaiwuError } from '../../core/errors.ts';
import type { ManagedServer } from '../../core/ports/managed.ts';
import type { Command } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { commandAt, madeOfCalls } from './catalog-calls.ts';
import { mcpImport } from './mcp-import.ts';
import { mcpLogin } from './mcp-login.ts';
import { mcpReview } from './mcp-review.ts';
import { toSettings, toShellFields } from './mcp-server-settings.ts';
import { toServerText } from './mcp-server-text.ts';
import { toResultText } from './mcp-result-text.ts';
import { programName } from '../program-name.ts';

/** Commands on managed MCP servers that are more than their action: settings in shell words, browsers, files of hosts. */
export function mcpServerCommands(app: App, io: CliIo, catalog: readonly Command[]): Command[] {
  const toText = (output: object) => toServerText(output as ManagedServer, programName(app), io);
  const ofOneServer = [
    addCommand(app, io, commandAt(catalog, 'mcp server add')),
    updateCommand(app, io, commandAt(catalog, 'mcp server update')),
    ...ABOUT_ONE.map((path) => commandAt(catalog, path)),
  ].map((command) => ({ ...command, toText }));
  const toolCall = { ...commandAt(catalog, 'mcp tool call'), toText: toResultText };
  return [
    ...ofOneServer,
    toolCall,
    { ...toolCall, path: 'mcp tools call', sameAs: toolCall.path },
    ...ofOneServer.map((command) => ({ ...command, path: toPlural(command.path), sameAs: command.path })),
    ...[mcpImport(app, io, catalog), mcpLogin(app, io, catalog), mcpReview(app, io, catalog)].map(
      madeOfCalls,
    ),
  ];
}

/** Commands whose output is one server. */
const ABOUT_ONE = ['mcp server get', 'mcp server enable', 'mcp server disable', 'mcp server test'];

/** The name that people are told: `mcp servers show`. */
const toPlural = (path: string): string =>
  path.replace('mcp server ', 'mcp servers ').replace(/ get$/, ' show');

const HINT_SECRETS =
  'What is in a command line can be read by other users of the machine: secrets are better given by --token-stdin, by --env NAME, or with --input - or --file - on stdin.';

function inShell(app: App, io: CliIo, action: Command): Command {
  const { properties } = action.inputSchema;
  return {
    ...action,
    inputSchema: { ...action.inputSchema, properties: toShellFields(properties) },
    positionals: ['name', 'command'],
    afterDashes: 'command',
    folders: ['cwd', 'caFile'],
    errors: [...action.errors, 'file_not_found', 'canceled'],
    talks: true,
    run: async (invocation) =>
      action.run({ ...invocation, input: await toSettings(app, io, invocation.input) }),
  };
}

function addCommand(app: App, io: CliIo, action: Command): Command {
  return {
    ...inShell(app, io, action),
    description: `Either --url or a command after \`--\`. Answers when it is connected, or with what is wrong. The tools of its first listing are trusted; what is new or changed later is held back until you accept it. ${HINT_SECRETS}`,
    examples: [
      { title: 'A server that is a program', input: EXAMPLES.program },
      { title: 'A program with a secret of this shell', input: EXAMPLES.secret },
      { title: 'A server at an address', input: EXAMPLES.address },
    ],
    async run(invocation) {
      const input = await toSettings(app, io, invocation.input);
      if (input['url'] === undefined && input['command'] === undefined) {
        throw new KaiwuError('invalid_input', 'A server needs --url, or a command after `--`.', {
          hint: `For example: \`kaiwu mcp servers add ${toWord(input['name'])} -- npx -y PACKAGE\`.`,
        });
      }
      return action.run({ ...invocation, input });
    },
  };
}

const EXAMPLES = {
  program: { name: 'files', command: ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/srv'] },
  secret: { name: 'github', env: ['GITHUB_TOKEN'], command: ['github-mcp-server', 'stdio'] },
  address: { name: 'home', url: 'https://home.example/mcp', tokenStdin: true },
};

const toWord = (name: unknown): string =>
  typeof name === 'string' && /^[\w-]{1,64}$/.test(name) ? name : 'NAME';

function updateCommand(app: App, io: CliIo, action: Command): Command {
  return {
    ...inShell(app, io, action),
    description: `${action.description ?? ''} --env and --header replace all that were set before. ${HINT_SECRETS}`,
    examples: [
      { title: 'Leave tools out', input: { name: 'files', exclude_tools: ['write_*'] } },
      { title: 'Another token', input: { name: 'home', tokenStdin: true } },
    ],
  };
}
