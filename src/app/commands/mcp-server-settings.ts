import { resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { KaiwuError } from '../../core/errors.ts';
import { parseServers } from '../../core/managed/parse-config.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { askHidden, canAsk } from '../ask.ts';
import { readGivenFile } from '../given-file.ts';
import { flag, text } from './local-command.ts';

const list = (description: string): JsonSchema => ({
  type: 'array',
  description,
  items: { type: 'string' },
});

/** How a shell says what an object of settings says: in place of the fields of the action that have the same names. */
export function toShellFields(fields: Record<string, JsonSchema> = {}): Record<string, JsonSchema> {
  const { args: _, headers: __, env: ___, ...others } = fields;
  return {
    ...others,
    command: list('Program and arguments of a server over stdio, after `--`.'),
    tokenStdin: flag('Read the token from stdin, or ask for it without showing it.'),
    header: list('`Name: value`, sent with every request. Kept sealed. May be repeated.'),
    env: list('NAME=VALUE, or NAME to take the value from this shell. Kept sealed. May be repeated.'),
    file: text('File with the settings of one server, in any format that hosts use; - reads stdin.'),
  };
}

/** Settings of one server as the person gave them, in the words of the action. @throws invalid_input */
export async function toSettings(
  app: App,
  io: CliIo,
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { file, tokenStdin, header, env, command, ...input } = given;
  if (typeof input.name === 'string' && input.name.startsWith('{')) {
    throw wrong('name', 'Settings in JSON are passed with --input; --json only asks for output in JSON.');
  }
  assertNoFlag('name', input.name);
  const base = file === undefined ? {} : await readOne(file as string, io);
  const settings = { ...base, ...input, ...toProgram(command, io.cwd), ...toEnv(env, app.env) };
  if (header !== undefined) Object.assign(settings, { headers: toHeaders(header) });
  if (tokenStdin !== true) return settings;
  if (input.token !== undefined) throw wrong('token', 'The token is given twice: --token and --token-stdin.');
  if (file === '-') throw wrong('token', 'stdin holds the file already; put the token into it.');
  const token = canAsk(io) ? await askHidden('Token: ', io) : (await readText(io.stdin)).trim();
  if (token === '') throw wrong('token', 'There was no token on stdin.');
  return { ...settings, token };
}

async function readOne(path: string, io: CliIo): Promise<Record<string, unknown>> {
  const { name, text: content } = await readGivenFile(path, io);
  const { servers, warnings, errors } = parseServers(content);
  const [server] = servers;
  if (server !== undefined && servers.length === 1 && errors.length === 0) return server;
  const what = [`${name} holds ${servers.length} servers that can be taken.`, ...errors, ...warnings];
  throw new KaiwuError('invalid_input', what.slice(0, 6).join(' '), {
    hint: 'It is to hold one. Several are taken with `kaiwu mcp servers import --file PATH`.',
  });
}

/** A relative path is meant from where the person stands, a mere name from the PATH of who runs it. */
function toProgram(given: unknown, cwd: string): { command?: unknown; args?: string[] } {
  if (!Array.isArray(given)) return given === undefined ? {} : { command: given };
  const [program = '', ...args] = given as string[];
  assertNoFlag('command', program);
  const isPath = program.includes('/') && !program.startsWith('~');
  return { command: isPath ? resolve(cwd, program) : program, args };
}

/** A flag where a name or a program should be: the `--` stands in the wrong place. */
function assertNoFlag(field: string, word: unknown): void {
  if (typeof word !== 'string' || !word.startsWith('-')) return;
  throw wrong(field, `The ${field} begins with ${JSON.stringify(word.slice(0, 40))}.`, [
    'The name comes before `--`, the command after it: `kaiwu mcp servers add files -- npx -y PACKAGE`.',
  ]);
}

function toEnv(given: unknown, own: NodeJS.ProcessEnv): { env?: unknown } {
  if (!Array.isArray(given)) return given === undefined ? {} : { env: given };
  const pairs = (given as string[]).map((one) => {
    const [, name, value] = /^([^=\s]+)(?:=([\s\S]*))?$/.exec(one) ?? [];
    // What stands after the = may be a secret in the wrong place.
    if (name === undefined) throw wrong('env', `--env takes NAME=VALUE or NAME, not ${shown(one, '=')}.`);
    const known = value ?? own[name];
    if (known === undefined) throw wrong('env', `This shell has no variable ${shown(name, '=')}.`);
    return [name, known];
  });
  return { env: Object.fromEntries(pairs) as Record<string, string> };
}

function toHeaders(given: unknown): Record<string, string> {
  const pairs = (given as string[]).map((one) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(one) ?? [];
    if (name === undefined || value === undefined) {
      throw wrong('header', `--header takes 'Name: value', not ${shown(one, ':')}.`);
    }
    return [name, value];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

const shown = (text: string, until: string): string => JSON.stringify(text.split(until)[0]?.slice(0, 40));

const wrong = (path: string, message: string, [hint]: string[] = []): KaiwuError =>
  new KaiwuError('invalid_input', message, {
    hint: hint ?? 'See `kaiwu mcp servers add --help`.',
    details: { issues: [{ path, message }] },
  });
