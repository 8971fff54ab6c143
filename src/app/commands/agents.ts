import { resolve } from 'node:path';
import { AGENT_SESSION_VARIABLE } from '../../core/agent-mark.ts';
import { KaiwuError } from '../../core/errors.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../core/session.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { AgentDefinition } from '../../daemon/agents/agents.ts';
import { findCommand, whyMissing } from '../../process/find-command.ts';
import {
  type AddedAgent,
  assertAgentName,
  readAddedAgents,
  updateAddedAgents,
} from '../../local/added-agents.ts';
import type { Command } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import { builtInAgents } from '../added-agents.ts';
import type { App } from '../app.ts';
import { optional } from '../connection.ts';
import { readGivenFile } from '../given-file.ts';
import { toRegisteredAgent } from './agents-registry.ts';
import { text, toLocalCommand } from './local-command.ts';

const NAME = text('Id of the agent.');
const list = (description: string) => ({
  type: 'array' as const,
  description,
  items: { type: 'string' as const },
});

/** The registry names processors otherwise than Node does. */
const PROCESSORS: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };

/** Commands on the agents that the person added on this machine. */
export function agentCommands(app: App, io: CliIo): Command[] {
  return [
    toLocalCommand({
      path: 'agents add',
      summary:
        'Add an agent that speaks ACP, by the command that starts it or from a file of the public registry.',
      description:
        'It can be used at once. --env NAME=VALUE gives it a variable whose value is kept secret; NAME alone takes the value from this shell. --mode OURS=THEIRS says which of its modes stands for one of ours, where its name does not tell.',
      fields: {
        name: NAME,
        command: list('Program and arguments, after `--`.'),
        registry: text('File in the format of the public ACP registry, to take the agent of this id from.'),
        env: list('NAME=VALUE, or NAME to take the value from this shell. May be repeated.'),
        mode: list('OURS=THEIRS, such as bypass=yolo. May be repeated.'),
      },
      positionals: ['name', 'command'],
      required: ['name'],
      examples: [
        { title: 'By its command', input: { name: 'mine', command: ['my-agent', 'acp'] } },
        { title: 'From the registry', input: { name: 'auggie', registry: 'registry.json' } },
      ],
      errors: [
        'invalid_input',
        'conflict',
        'not_found',
        'unsupported',
        'permission_escalation_denied',
        'state_damaged',
      ],
      async run(input) {
        assertPerson(app, 'add');
        const name = input.name as string;
        assertFree(app, name);
        const agent = await toAgent(app, io, input as unknown as AddInput);
        await updateAddedAgents(app.paths, (agents) => {
          if (Object.hasOwn(agents, name)) throw taken(app, name);
          agents[name] = agent;
        });
        await warnOfMissing(app, io, name, agent.command);
        return { ...toShown(name, agent), file: app.paths.agents };
      },
    }),
    toLocalCommand({
      path: 'agents remove',
      summary:
        'Forget an agent that was added. Its sessions stay, and those that run go on; they cannot start again.',
      fields: { name: NAME },
      positionals: ['name'],
      required: ['name'],
      examples: [{ title: 'Forget it', input: { name: 'mine' } }],
      errors: ['not_found', 'permission_escalation_denied', 'state_damaged'],
      async run(input) {
        assertPerson(app, 'remove');
        const name = input.name as string;
        await updateAddedAgents(app.paths, (agents) => {
          if (!Object.hasOwn(agents, name)) throw unknownAgent(app, name, Object.keys(agents));
          delete agents[name];
        });
        const note = `Sessions with ${name} that run go on. Once at rest they cannot start again, until an agent ${name} is added.`;
        return { removed: name, note };
      },
    }),
    toLocalCommand({
      path: 'agents show',
      summary: 'Show how an agent is started here. Values of its environment are not shown.',
      fields: { name: NAME },
      positionals: ['name'],
      required: ['name'],
      examples: [{ title: 'An agent that was added', input: { name: 'mine' } }],
      errors: ['not_found', 'state_damaged'],
      async run(input) {
        const name = input.name as string;
        const builtIn = builtInAgents(app).find(({ agentId }) => agentId === name);
        if (builtIn !== undefined) return toShownBuiltIn(builtIn);
        const agents = readAddedAgents(app.paths);
        const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
        if (agent === undefined) throw unknownAgent(app, name, Object.keys(agents));
        return { ...toShown(name, agent), file: app.paths.agents };
      },
    }),
  ];
}

interface AddInput {
  name: string;
  command?: string[];
  registry?: string;
  env?: string[];
  mode?: string[];
}

async function toAgent(app: App, io: CliIo, input: AddInput): Promise<AddedAgent> {
  const { name, command = [], registry } = input;
  if (command.length > 0 === (registry !== undefined)) {
    throw new KaiwuError(
      'invalid_input',
      '`agents add` takes a command after `--`, or --registry: one of them.',
      {
        hint: `For example: \`${app.channel} agents add ${name} -- my-agent acp\`.`,
      },
    );
  }
  const platform = `${process.platform}-${PROCESSORS[process.arch] ?? process.arch}`;
  const agent: AddedAgent =
    registry === undefined
      ? { command: toProgram(command[0] as string, io.cwd), args: command.slice(1) }
      : toRegisteredAgent(await readGivenFile(registry, io), name, platform);
  const env = { ...agent.env, ...toVariables(input.env ?? [], app.env) };
  const modes = toModes(input.mode ?? []);
  return {
    ...agent,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(modes).length === 0 ? {} : { modes }),
  };
}

/** The daemon may have another PATH, and the program may be installed later: the agent is added all the same. */
async function warnOfMissing({ env }: App, io: CliIo, name: string, command: string): Promise<void> {
  if (findCommand(command, env.PATH ?? '') !== undefined) return;
  const why = `${whyMissing(command, 'this')}. It starts once the daemon finds it.`;
  await write(io.stderr, `${name} is added, but ${toVisibleText(why, { singleLine: true })}\n`);
}

/** A relative path is meant from where the person stands, a mere name from the daemon's PATH. */
const toProgram = (command: string, cwd: string): string =>
  command.includes('/') ? resolve(cwd, command) : command;

function toVariables(given: string[], env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([\s\S]*))?$/.exec(one) ?? [];
      if (name === undefined) throw wrong('env', `--env takes NAME=VALUE or NAME`, one.replace(/=.*/s, '=…'));
      if (name.startsWith('KAIWU_')) throw wrong('env', 'Variables of Kaiwu itself cannot be given', name);
      const known = value ?? env[name];
      if (known === undefined) throw wrong('env', 'This shell has no such variable', name);
      return [name, known];
    }),
  );
}

function toModes(given: string[]): Partial<Record<PermissionMode, string>> {
  return Object.fromEntries(
    given.map((one) => {
      const [ours, theirs] = [one.replace(/=.*/s, ''), one.replace(/^[^=]*=?/, '')];
      const mode = PERMISSION_MODES.find((known) => known === ours);
      if (mode === undefined || theirs === '')
        throw wrong(
          'mode',
          `--mode takes one of ${PERMISSION_MODES.join(', ')}, =, and the agent’s own id`,
          one,
        );
      return [mode, theirs];
    }),
  );
}

const toShown = (agentId: string, { command, args, env, modes, name, registryId }: AddedAgent) => ({
  agentId,
  source: 'added',
  ...optional('name', name),
  command: [command, ...args],
  ...(env === undefined ? {} : { environmentNames: Object.keys(env).sort() }),
  ...optional('modes', modes),
  ...optional('registryId', registryId),
});

const toShownBuiltIn = ({ agentId, name, command, args, env, install, setup }: AgentDefinition) => ({
  agentId,
  source: 'built_in',
  name,
  command: [command, ...args],
  ...(Object.keys(env).length === 0 ? {} : { environmentNames: Object.keys(env).sort() }),
  ...optional('install', install),
  ...optional('setup', setup),
});

/** What an agent adds would be started with the rights of the person. */
function assertPerson({ env }: App, verb: string): void {
  const session = env[AGENT_SESSION_VARIABLE];
  if (session === undefined || session === '') return;
  const message = `agents ${verb} was called by a process of the agent in session ${session}.`;
  throw new KaiwuError('permission_escalation_denied', message, {
    hint: 'A person can do this from a shell of their own.',
    details: { sessionId: session },
  });
}

function assertFree(app: App, name: string): void {
  assertAgentName(name);
  if (!builtInAgents(app).some(({ agentId }) => agentId === name)) return;
  throw new KaiwuError('conflict', `${name} is an agent that comes with Kaiwu.`, {
    hint: 'Choose another name.',
  });
}

const taken = ({ channel }: App, name: string): KaiwuError =>
  new KaiwuError('conflict', `An agent ${name} has been added already.`, {
    hint: `Choose another name, or remove it first: \`${channel} agents remove ${name}\`.`,
  });

const unknownAgent = ({ channel }: App, name: string, known: string[]): KaiwuError =>
  new KaiwuError('not_found', `No agent ${JSON.stringify(name.slice(0, 60))} was added on this machine.`, {
    hint:
      known.length === 0
        ? `\`${channel} agents add NAME -- COMMAND\` adds one.`
        : `Added are ${known.join(', ')}.`,
  });

const wrong = (path: string, message: string, received: string): KaiwuError =>
  new KaiwuError('invalid_input', `${message}: received ${JSON.stringify(received.slice(0, 80))}.`, {
    details: { issues: [{ path, message }] },
  });
