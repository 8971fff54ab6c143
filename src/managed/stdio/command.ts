import { statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { AGENT_SESSION_VARIABLE, toServerMark } from '../../core/agent-mark.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { ServerConfig } from '../../core/managed/config.ts';
import { toShortText } from '../../core/visible-text.ts';
import { type Environment, toChildEnvironment } from '../../process/environment.ts';
import { findCommand, whyMissing } from '../../process/find-command.ts';

/** What is started for a server. */
export interface ServerCommand {
  command: string;
  args: readonly string[];
  directory: string;
  env: Record<string, string>;
}

/** @throws mcp_server_unavailable where there is no such program or folder; the message names it and the PATH searched */
export function toServerCommand(config: ServerConfig, from: Environment): ServerCommand {
  const env: Record<string, string> = {
    ...toChildEnvironment(from, { inherit: [], env: {}, secretEnv: config.env ?? {} }),
    [AGENT_SESSION_VARIABLE]: toServerMark(config.name ?? ''),
  };
  const home = env.HOME ?? '/';
  const inHome = (path: string) => path.replace(/^~(?=\/|$)/, home);
  const directory = resolve(home, inHome(config.cwd ?? home));
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw unusable(
      `there is no folder ${directory} to start in`,
      'Set `cwd` of the server to a folder that exists.',
    );
  }
  const wanted = inHome(config.command ?? '');
  const path = env.PATH ?? '';
  const isPlace = wanted.includes('/');
  const command = findCommand(isPlace ? resolve(directory, wanted) : wanted, path);
  if (command !== undefined) return { command, args: config.args ?? [], directory, env };
  if (isPlace) {
    const place = resolve(directory, wanted);
    throw unusable(whyMissing(place, ''), 'Set `command` of the server to a program, by its full path.');
  }
  const searched = toShortText(path.split(delimiter).filter(isAbsolute).join(', '), 600);
  throw unusable(
    `there is no program ${JSON.stringify(wanted)} on the PATH (searched ${searched === '' ? 'nothing: it is empty' : searched})`,
    'Install it, set `command` to its full path (`which` tells it), or set PATH in `env` of the server.',
  );
}

const unusable = (why: string, hint: string): KaiwuError =>
  new KaiwuError('mcp_server_unavailable', `command: ${why}.`, { hint });
