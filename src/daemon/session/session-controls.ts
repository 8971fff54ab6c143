import type { ConfigOption, PermissionMode, SessionEventBody } from '../../core/session.ts';
import type { AgentSession } from '../acp/agent-session.ts';
import { unknownModel, unknownOption, unknownValue, unsupportedMode } from '../acp/control-errors.ts';
import { toPermissionModes } from '../agents/known-modes.ts';
import type { StoredSession } from '../journal/rows.ts';
import { toBoundedOptions, toModelChanged } from './bounded.ts';
import type { SessionContext } from './context.ts';
import { createOneByOne } from './one-by-one.ts';
import { toReason } from './reason.ts';
import type { Turn } from './turn.ts';

/** Mode, model and settings of a session, with an agent and without one. */
export interface SessionControls {
  /** @throws unsupported | agent_failed */
  setMode(mode: PermissionMode): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setModel(modelId: string): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setConfigOption(configId: string, value: string | boolean): Promise<void>;
  sessionMode(): PermissionMode;
  /** Puts an agent's mode back that it changed by itself. */
  putBack(mode: PermissionMode): void;
  /**
   * Ends what a message asked for its own turn. An agent that cannot go back must not go on.
   * @param model that it had before, where nobody has chosen one
   */
  restore(agent: AgentSession, turn: Turn, model: string | undefined): Promise<void>;
}

export function createSessionControls(options: {
  context: Pick<SessionContext, 'registry' | 'log'>;
  sessionId: string;
  read(): StoredSession;
  append(event: SessionEventBody): void;
  /** Once it has started, where it starts: its start has read what was chosen before. */
  agent(): Promise<AgentSession | undefined>;
  turn(): Turn | undefined;
}): SessionControls {
  const { context, read, append } = options;
  const definition = () => context.registry.describe(read().agentId);
  /** So that the last one asked for is the one in force. */
  const oneByOne = createOneByOne();

  /** For an agent that is not there. One that was added may have modes that nobody knows of until it has started. */
  function refuseUnknownMode(mode: PermissionMode): void {
    const known = definition();
    const offered = known.source === 'added' ? context.registry.offered(known) : undefined;
    const isOpen = known.source === 'added' && offered === undefined;
    if (mode !== 'default' && !isOpen && !toPermissionModes(known, offered).includes(mode))
      throw unsupportedMode(known, mode, offered);
  }

  return {
    sessionMode: () => read().permissionMode,
    setMode: (mode) =>
      oneByOne(async () => {
        const agent = await options.agent();
        // A turn that has a mode of its own keeps it to its end.
        if (agent !== undefined && options.turn()?.modeOverride === undefined) await agent.setMode(mode);
        else refuseUnknownMode(mode);
        if (read().permissionMode !== mode) append({ type: 'mode_changed', permissionMode: mode });
      }),
    setModel: (modelId) =>
      oneByOne(async () => {
        const agent = await options.agent();
        const { models } = read();
        const offered = (models.length > 0 ? models : definition().models).map((model) => model.id);
        const live = options.turn()?.hasModelOverride === true ? undefined : agent;
        if (live !== undefined) await live.setModel(modelId);
        else if (!offered.includes(modelId)) throw unknownModel(definition().name, modelId, offered);
        // An agent may offer others once it has changed.
        const now = live === undefined ? read().models : toBoundedOptions(live.models());
        const isOther = JSON.stringify(now) !== JSON.stringify(read().models);
        if (read().modelId !== modelId || isOther) append(toModelChanged(modelId, isOther ? now : undefined));
      }),
    setConfigOption: (configId, value) =>
      oneByOne(async () => {
        const agent = await options.agent();
        // The agent's own report of the change is what is stored.
        if (agent !== undefined) return agent.setConfigOption(configId, value);
        const configOptions = withValue(definition().name, read().configOptions, configId, value);
        append({ type: 'config_options_changed', configOptions });
      }),
    putBack(mode) {
      oneByOne(async () => (await options.agent())?.setMode(mode)).catch((error: unknown) =>
        context.log.warn({ sessionId: options.sessionId, error }, 'an agent did not go back to its mode'),
      );
    },
    async restore(agent, { modeOverride, hasModelOverride }, model) {
      try {
        if (modeOverride !== undefined) await oneByOne(() => agent.setMode(read().permissionMode));
        const before = read().modelId ?? model;
        if (hasModelOverride && before !== undefined) await oneByOne(() => agent.setModel(before));
      } catch (error) {
        await agent.end(`it did not go back to its mode or model: ${toReason(error).message}`);
      }
    },
  };
}

/** Settings of an agent that is not there, which gets them at its next start. @throws invalid_input | unsupported */
function withValue(
  agentName: string,
  known: ConfigOption[],
  configId: string,
  value: string | boolean,
): ConfigOption[] {
  const option = known.find((one) => one.configId === configId);
  if (option === undefined) throw unknownOption(agentName, configId, known);
  const isOffered =
    option.kind === 'boolean'
      ? typeof value === 'boolean'
      : option.options.some((choice) => choice.id === value);
  if (!isOffered) throw unknownValue(option, value);
  return known.map((one) => (one === option ? { ...one, value } : one));
}
