import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type ErrorCode, KaiwuError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { ask, canAsk } from '../ask.ts';
import { readGivenFile } from '../given-file.ts';
import type { HostServers, Skipped, Takeable } from '../host-servers/find-servers.ts';
import { HOST_NAMES, type HostName } from '../host-servers/host-names.ts';
import { programName } from '../program-name.ts';
import { call, commandAt } from './catalog-calls.ts';
import { choice, flag, text, toLocalCommand } from './local-command.ts';
import { type Shown, type Taken, toOutcomeText, toPlanText, toShown, toTaken } from './mcp-import-text.ts';

/** Servers that are connected at the same time. */
const AT_ONCE = 4;

/** `kaiwu mcp servers import`: servers that another host on this machine already knows, or a whole file of them. */
export function mcpImport(app: App, io: CliIo, catalog: readonly Command[]): Command {
  return toLocalCommand({
    path: 'mcp servers import',
    summary: 'Take over MCP servers from the files of another host on this machine, or from a file of yours.',
    description:
      "Shows what it would take and asks. Values of secrets are never shown. Servers whose name is taken here are left alone, and so is a server that refers to variables, unless --resolve-env fills them in from this shell. The host's files stay as they are.",
    fields: {
      names: { type: 'array', items: { type: 'string' }, description: 'Take these only.' },
      from: choice('Host whose files are looked for.', HOST_NAMES),
      file: text('A file of yours in the format of any host; - reads stdin.'),
      project: text('Folder whose project files are looked at as well. Default: this folder.'),
      resolveEnv: flag('Fill in ${NAME} and the like from this shell.'),
      yes: flag('Do not ask.'),
    },
    positionals: ['names'],
    examples: [
      { title: 'What Claude Code and Claude Desktop know', input: { from: 'claude' } },
      {
        title: 'One server of Codex, without a question',
        input: { from: 'codex', yes: true, names: ['files'] },
      },
      { title: 'A file', input: { file: 'mcp-servers.json' } },
    ],
    errors: ['invalid_input', 'not_found', 'file_not_found', 'confirmation_required', 'canceled', 'conflict'],
    talks: true,
    async run(input, invocation) {
      const looked = await look(app, io, input);
      const plan = await narrow(looked, catalog, invocation, input.names as string[] | undefined);
      const shown = plan.servers.map(toShown);
      const output = { servers: shown, skipped: plan.skipped };
      if (!invocation.flags.json) await write(io.stdout, toPlanText(plan, shown, io));
      if (plan.servers.length === 0) return { ...output, taken: [] };
      if (input.yes !== true) await confirm(io, invocation, output);
      return { taken: await takeAll(plan.servers, catalog, invocation), skipped: plan.skipped };
    },
    toText: (output) => toOutcomeText(output['taken'] as Taken[], programName(app), io),
  });
}

async function look(app: App, io: CliIo, input: Record<string, unknown>): Promise<HostServers> {
  const { from, file, project = '.', resolveEnv } = input;
  if ((from === undefined) === (file === undefined)) {
    throw new KaiwuError(
      'invalid_input',
      '`mcp servers import` takes --from HOST or --file PATH: one of them.',
      {
        hint: `Hosts: ${HOST_NAMES.join(', ')}.`,
      },
    );
  }
  const { findInText, findServers } = await import('../host-servers/find-servers.ts');
  const options = {
    home: app.env.HOME || app.env.USERPROFILE || homedir(),
    project: resolve(io.cwd, project as string),
    platform: process.platform,
    env: app.env,
    binary: app.binary,
    resolveEnv: resolveEnv === true,
  };
  if (file !== undefined) {
    const given = await readGivenFile(file as string, io);
    return findInText(given.text, given.name, options);
  }
  const found = await findServers(from as HostName, options);
  const bad = found.files.filter(({ problem }) => problem !== undefined);
  found.skipped.push(...bad.map(({ path, problem = '' }) => ({ name: '', from: path, reason: problem })));
  if (found.files.some((one) => one.found)) return found;
  throw new KaiwuError('not_found', `No file of ${String(from)} was found on this machine.`, {
    hint: `Looked for ${found.files.map(({ path }) => path).join(', ')}. --project names another folder, --file one file.`,
    details: { files: found.files },
  });
}

/** Leaves out what is known here, and what was not asked for. @throws not_found for a name that no file has */
async function narrow(
  found: HostServers,
  catalog: readonly Command[],
  invocation: Invocation,
  names: string[] | undefined,
): Promise<{ servers: Takeable[]; skipped: Skipped[] }> {
  const { servers } = await call(catalog, 'mcp server list', {}, invocation);
  const known = new Set((servers as { name: string }[]).map(({ name }) => name.toLowerCase()));
  const isAsked = (name: string) =>
    names === undefined || names.some((one) => one.toLowerCase() === name.toLowerCase());
  const all = [...found.servers.map(({ config }) => config.name), ...found.skipped.map(({ name }) => name)];
  const unknown = names?.filter((name) => !all.some((one) => one.toLowerCase() === name.toLowerCase())) ?? [];
  if (unknown.length > 0) {
    const near = nearest(unknown[0] as string, all.filter(Boolean), 3);
    throw new KaiwuError(
      'not_found',
      `There is no server ${JSON.stringify(unknown[0]?.slice(0, 60))} there.`,
      {
        hint: near.length === 0 ? 'There is none at all.' : `Nearest: ${near.join(', ')}.`,
      },
    );
  }
  const there = found.servers.filter(({ config: { name } }) => known.has(name.toLowerCase()));
  return {
    servers: found.servers.filter(({ config: { name } }) => isAsked(name) && !known.has(name.toLowerCase())),
    skipped: [
      ...there.map(({ config: { name }, from }) => ({
        name,
        from,
        reason: 'a server of this name is here already',
      })),
      ...found.skipped,
    ].filter(({ name }) => name === '' || isAsked(name)),
  };
}

async function confirm(
  io: CliIo,
  { flags, signal }: Invocation,
  plan: { servers: Shown[]; skipped: Skipped[] },
) {
  const { length } = plan.servers;
  const many = length === 1 ? 'this server' : `these ${length} servers`;
  if (flags.json || !canAsk(io)) {
    throw new KaiwuError('confirmation_required', `Taking ${many} needs a yes. Nothing was changed.`, {
      hint: 'If that is what you want, run it again with --yes.',
      details: { ...plan },
    });
  }
  const answer = await ask(`Take ${many}? [y/N] `, io, signal);
  if (!/^y(es)?$/i.test(answer)) throw new KaiwuError('canceled', 'Nothing was changed.');
}

/** Adds all, a few at the same time, since each is waited for until it is connected. @throws where one was refused */
async function takeAll(
  servers: Takeable[],
  catalog: readonly Command[],
  { flags, signal }: Invocation,
): Promise<Taken[]> {
  const add = commandAt(catalog, 'mcp server add');
  const taken: Taken[] = [];
  const refused: { name: string; code: ErrorCode; message: string }[] = [];
  const waiting = [...servers];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { config } = next;
      const envelope = await add.run({ input: { ...config }, flags, signal });
      if (envelope.status === 'error') refused.push({ name: config.name, ...envelope.error });
      else if (envelope.status === 'approval_required') {
        taken.push({
          name: config.name,
          status: 'waits for approval',
          tools: 0,
          reason: envelope.approval.decideWith,
        });
      } else taken.push(toTaken(envelope.output));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const [first] = refused;
  if (first === undefined) return taken.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rest = refused.map(({ name, message }) => `${name}: ${message}`).join(' ');
  throw new KaiwuError(first.code, `${rest} ${taken.length} of ${servers.length} servers were taken.`, {
    hint: '`kaiwu mcp servers list` shows them. Run it again to take the rest.',
    details: { taken, refused: refused.map(({ name, code, message }) => ({ name, code, message })) },
  });
}
