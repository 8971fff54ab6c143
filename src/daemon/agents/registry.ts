import { createHash } from 'node:crypto';
import { KaiwuError, toWireError } from '../../core/errors.ts';
import type { AgentInfo } from '../../core/agent.ts';
import type { AgentOption } from '../../core/session.ts';
import { toBoundedOptions } from '../session/bounded.ts';
import type { AgentDefinition } from './agents.ts';
import { type Environment, toChildEnvironment } from '../../process/environment.ts';
import { findCommand, whyMissing } from '../../process/find-command.ts';
import { toModeFault, toPermissionModes } from './known-modes.ts';
import { createLessons, type Lesson, type Offer } from './lessons.ts';
import { lookForSignIn } from './sign-in.ts';
import { findVersion } from './version.ts';

/** Most characters of why an agent cannot be used. */
const MAX_REASON = 1000;

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
  /** The definition alone, of one that was removed too. @throws agent_not_available when there is no such agent at all */
  describe(agentId: string): AgentDefinition;
  /** Its own modes, as it last offered them; undefined for an agent that has not started here. */
  offered(definition: AgentDefinition): string[] | undefined;
  /** Finds the versions of the agents that are there, one after another. */
  learnVersions(): Promise<void>;
}

export function createAgentRegistry(options: {
  table: AgentDefinition[];
  /** Agents that the person added, read afresh. @throws state_damaged */
  added?(): AgentDefinition[];
  env: Environment;
  lastModels(agentId: string): AgentOption[];
  /** What each agent offered when it last started, kept over restarts. */
  offers?: { get(agentId: string): Offer | undefined; set(agentId: string, offer: Offer): void };
}): AgentRegistry {
  const { table, env } = options;
  const lessons = createLessons();
  const offers = options.offers ?? new Map<string, Offer>();
  const versions = new Map<string, string>();
  /** As the person's file had them when it could last be read. */
  let added: AgentDefinition[] = [];
  /** Added agents that were there once: sessions of theirs may still run. */
  const met = new Map<string, AgentDefinition>();
  let learning: Promise<void> | undefined;

  const locate = (definition: AgentDefinition) => findCommand(definition.command, env.PATH ?? '');

  /** The agents that come with Kaiwu work whatever has become of the person's file; theirs are known, but cannot be used. */
  function everything(): { all: AgentDefinition[]; damage?: unknown } {
    try {
      const ours = new Set(table.map(({ agentId }) => agentId));
      added = (options.added?.() ?? []).filter(({ agentId }) => !ours.has(agentId));
      for (const definition of added) met.set(definition.agentId, definition);
      return { all: [...table, ...added] };
    } catch (damage) {
      return { all: [...table, ...added], damage };
    }
  }

  function unknown(agentId: string, all: AgentDefinition[]): KaiwuError {
    const known = all.map((one) => one.agentId);
    return new KaiwuError('agent_not_available', `There is no agent ${JSON.stringify(agentId)}.`, {
      hint: `Use one of ${known.join(', ')}.`,
      details: { agentId, known },
    });
  }

  function evidenceOf(definition: AgentDefinition) {
    const { evidence, command, args } = definition;
    const agentEnv = toChildEnvironment(env, definition);
    const looked = evidence && lookForSignIn(evidence, agentEnv);
    return {
      found: looked === undefined || evidence?.optional === true || looked.found,
      // An added agent that was changed is another one.
      mark: looked?.mark ?? JSON.stringify([command, args, agentEnv]),
      startProves: evidence?.missingAt !== 'prompt',
    };
  }

  function learn(definition: AgentDefinition, lesson: Lesson): void {
    lessons.note(definition.agentId, lesson, evidenceOf(definition));
    if (!('features' in lesson)) return;
    const { features, modeIds } = lesson;
    offers.set(definition.agentId, { program: programOf(definition), features, modeIds });
  }

  /** Undefined until it has started here. What an added agent offered counts for the program that did. */
  function offerOf(definition: AgentDefinition): Offer | undefined {
    const offer = offers.get(definition.agentId);
    const isSame = definition.source !== 'added' || offer?.program === programOf(definition);
    return isSame ? offer : undefined;
  }

  /** Whether it can be used, by what can be seen and by what it showed; the latter counts for more. */
  function stateOf(definition: AgentDefinition): Pick<AgentInfo, 'state' | 'reason' | 'setup'> {
    if (locate(definition) === undefined) {
      const { install } = definition;
      const step = install === undefined ? {} : { setup: install };
      return { state: 'not_installed', reason: missing(definition), ...step };
    }
    const { found, mark } = evidenceOf(definition);
    const shown = lessons.signIn(definition.agentId, mark);
    if (shown?.proven ?? found) {
      const failed = lessons.failure(definition.agentId, mark);
      const fault = toModeFault(definition, offerOf(definition)?.modeIds);
      const reason =
        failed === undefined ? fault && `${fault}.` : `its last start failed: ${oneLine(failed)}`;
      return { state: 'ready', ...(reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON) }) };
    }
    const { name, setup, signIn } = definition;
    const said = shown?.message ?? `Nobody is signed in to ${name} on this machine.`;
    return {
      state: 'needs_setup',
      reason: (signIn === undefined ? said : `${said.replace(/[.\s]+$/, '')}. ${signIn}`).slice(
        0,
        MAX_REASON,
      ),
      ...(setup === undefined ? {} : { setup }),
    };
  }

  function toInfo(definition: AgentDefinition, damage: unknown): AgentInfo {
    const { agentId, name, install, source = 'built_in' } = definition;
    const command = locate(definition);
    const learned = command !== undefined && source === 'built_in' ? versions.get(command) : undefined;
    const version = definition.version ?? learned;
    const reported = toBoundedOptions(options.lastModels(agentId));
    const offer = offerOf(definition);
    return {
      agentId,
      name,
      available: command !== undefined,
      ...stateOf(definition),
      ...(damage !== undefined && source === 'added' ? toDamaged(damage) : {}),
      source,
      ...(offer === undefined ? {} : { features: offer.features }),
      ...(install === undefined ? {} : { install }),
      ...(version === undefined ? {} : { version }),
      permissionModes: toPermissionModes(definition, offer?.modeIds),
      models: reported.length > 0 ? reported : definition.models,
    };
  }

  /** An added agent may take the question for a start, and is not asked. */
  async function learnAll(): Promise<void> {
    for (const definition of table) {
      const command = definition.version === undefined ? locate(definition) : undefined;
      if (command === undefined || versions.has(command)) continue;
      const version = await findVersion(command, toChildEnvironment(env, definition));
      if (version !== undefined) versions.set(command, version);
    }
  }

  return {
    describe(agentId) {
      const { all } = everything();
      const definition = all.find((one) => one.agentId === agentId) ?? met.get(agentId);
      if (definition === undefined) throw unknown(agentId, all);
      return definition;
    },
    list() {
      const { all, damage } = everything();
      return all.map((definition) => toInfo(definition, damage));
    },
    find(agentId) {
      const { all, damage } = everything();
      const definition = all.find((one) => one.agentId === agentId);
      if (damage !== undefined && definition?.source !== undefined) throw damage;
      if (definition === undefined) throw damage ?? unknown(agentId, all);
      const command = locate(definition);
      if (command !== undefined) {
        return {
          definition,
          command,
          env: toChildEnvironment(env, definition),
          secrets: Object.values(definition.secretEnv ?? {}),
          learn: (lesson) => learn(definition, lesson),
        };
      }
      throw new KaiwuError('agent_not_available', missing(definition), {
        hint: definition.install === undefined ? undefined : `Install it with \`${definition.install}\`.`,
        details: { agentId, command: definition.command, install: definition.install, path: env.PATH },
      });
    },
    offered: (definition) => offerOf(definition)?.modeIds,
    learnVersions() {
      learning ??= learnAll().finally(() => {
        learning = undefined;
      });
      return learning;
    },
  };
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const toDamaged = (damage: unknown): Pick<AgentInfo, 'available' | 'state' | 'reason'> => ({
  available: false,
  state: 'needs_setup',
  reason: toWireError(damage).message.slice(0, MAX_REASON),
});

const missing = ({ name, command }: AgentDefinition): string =>
  `${name} is not installed: ${whyMissing(command, 'the daemon’s')}.`;

const programOf = ({ command, args }: AgentDefinition): string =>
  createHash('sha256')
    .update(JSON.stringify([command, args]))
    .digest('hex');
