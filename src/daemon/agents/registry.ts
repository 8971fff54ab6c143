import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { AgentInfo, AgentOption, PermissionMode } from '../../core/session.ts';
import { signalGroup } from '../acp/group.ts';
import { toBoundedOptions } from '../session/bounded.ts';
import type { AgentDefinition } from './agents.ts';
import { createLessons, type Lesson } from './lessons.ts';
import { type Environment, toAgentEnvironment } from './environment.ts';

const VERSION_LIMIT_MS = 5000;

/** An agent that can be started here and now. */
export interface FoundAgent {
  definition: AgentDefinition;
  /** Absolute. */
  command: string;
  env: Record<string, string>;
  /** Values of it that nobody may read, whatever their names are. */
  secrets: string[];
  /** Hears how its starts and prompts end, so that the list can say what is missing. */
  learn(what: Lesson): void;
}

export interface AgentRegistry {
  /** Looks on PATH again each time, so that what was just installed is found. Versions as far as they are known. */
  list(): AgentInfo[];
  /** @throws agent_not_available */
  find(agentId: string): FoundAgent;
  /** The definition alone. @throws agent_not_available when there is no such agent at all */
  describe(agentId: string): AgentDefinition;
  /** Asks the agents that are there for their versions, one after another. */
  learnVersions(): Promise<void>;
}

export function createAgentRegistry(options: {
  table: AgentDefinition[];
  env: Environment;
  lastModels(agentId: string): AgentOption[];
}): AgentRegistry {
  const { table, env } = options;
  const lessons = createLessons();
  const versions = new Map<string, string>();
  let learning: Promise<void> | undefined;

  const locate = (definition: AgentDefinition) => findCommand(definition.command, env.PATH ?? '');

  function describe(agentId: string): AgentDefinition {
    const definition = table.find((one) => one.agentId === agentId);
    if (definition !== undefined) return definition;
    const known = table.map((one) => one.agentId);
    throw new KaiwuError('agent_not_available', `There is no agent ${JSON.stringify(agentId)}.`, {
      hint: `Use one of ${known.join(', ')}.`,
      details: { agentId, known },
    });
  }

  function toInfo(definition: AgentDefinition): AgentInfo {
    const { agentId, name, install } = definition;
    const command = locate(definition);
    const version = definition.version ?? (command === undefined ? undefined : versions.get(command));
    const reported = toBoundedOptions(options.lastModels(agentId));
    return {
      agentId,
      name,
      available: command !== undefined,
      state: command === undefined ? 'not_installed' : lessons.lacks(agentId) ? 'needs_setup' : 'ready',
      source: definition.source ?? 'built_in',
      ...(command === undefined ? { reason: missing(definition) } : {}),
      ...(install === undefined ? {} : { install }),
      ...(version === undefined ? {} : { version }),
      permissionModes: Object.keys(definition.modes) as PermissionMode[],
      models: reported.length > 0 ? reported : definition.models,
    };
  }

  async function learn(): Promise<void> {
    for (const definition of table) {
      const command = definition.version === undefined ? locate(definition) : undefined;
      if (command === undefined || versions.has(command)) continue;
      const version = await askVersion(command, toAgentEnvironment(env, definition));
      if (version !== undefined) versions.set(command, version);
    }
  }

  return {
    describe,
    list: () => table.map(toInfo),
    find(agentId) {
      const definition = describe(agentId);
      const command = locate(definition);
      if (command !== undefined) {
        return {
          definition,
          command,
          env: toAgentEnvironment(env, definition),
          secrets: Object.values(definition.secretEnv ?? {}),
          learn: (lesson) => lessons.note(agentId, lesson),
        };
      }
      throw new KaiwuError('agent_not_available', missing(definition), {
        hint: definition.install === undefined ? undefined : `Install it with \`${definition.install}\`.`,
        details: { agentId, command: definition.command, install: definition.install, path: env.PATH },
      });
    },
    learnVersions() {
      learning ??= learn().finally(() => {
        learning = undefined;
      });
      return learning;
    },
  };
}

const missing = ({ name, command }: AgentDefinition): string =>
  `${name} is not installed: there is no program ${command} on the daemon's PATH.`;

function findCommand(command: string, path: string): string | undefined {
  const candidates = isAbsolute(command)
    ? [command]
    : path
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, command));
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Programs that do not know the question may wait for input or start in earnest: they get no input and little time. */
async function askVersion(command: string, env: Record<string, string>): Promise<string | undefined> {
  const child = spawn(command, ['--version'], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said = (said + text).slice(0, 4096);
  });
  const over = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  const limit = new AbortController();
  await Promise.race([over, sleep(VERSION_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {})]);
  limit.abort();
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  return /\d+\.\d+\.\d+\S*/.exec(said)?.[0];
}
