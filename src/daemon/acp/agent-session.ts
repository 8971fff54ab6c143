import { EVENT_LIMITS } from '../../core/link.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { AgentOption, PermissionMode } from '../../core/session.ts';
import { AGENT_SESSION_VARIABLE } from '../../core/agent-mark.ts';
import { toRedactor } from '../agents/environment.ts';
import type { FoundAgent } from '../agents/registry.ts';
import { type AcpConnection, createConnection, type PermissionOutcome } from './connection.ts';
import { type Controls, configChoices, knownModes, toControls } from './controls.ts';
import type { EndGraces } from './group.ts';
import type { Guardian } from './guardian.ts';
import { type McpServerConfig, type Opened, openConversation } from './open.ts';
import { type AgentExit, spawnAgent } from './process.ts';

type Json = Record<string, unknown>;

/** Most models that an error names. */
const MAX_NAMED = 100;

/** What its owner hears of a running agent. */
export interface AgentListener {
  batch(work: () => void): void;
  /** An update that is about the conversation. */
  onUpdate(update: Json): void;
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  /** The agent changed its own mode; `mode` is ours for it, if there is one. */
  onModeChanged(agentModeId: string, mode: PermissionMode | undefined): void;
  /** The agent changed its own model, or says so after we did. */
  onModelChanged(modelId: string): void;
  onTitle(title: string): void;
  onOutput(kind: 'noise' | 'stderr', text: string): void;
}

export interface AgentSessionOptions {
  /** Ours; marks the process and all that it starts. */
  sessionId: string;
  agent: FoundAgent;
  directory: string;
  permissionMode: PermissionMode;
  modelId?: string;
  /** Conversation to go on with. */
  acpSessionId?: string;
  mcpServers: McpServerConfig[];
  version: string;
  startLimitMs: number;
  maxLineBytes: number;
  graces: EndGraces;
  guardian: Guardian;
  listener: AgentListener;
  /** Hears the process id as soon as there is one. */
  onSpawned(pid: number): void;
  /** Ends the start. */
  signal: AbortSignal;
}

/** One agent process that holds one conversation. */
export interface AgentSession extends Opened {
  readonly pid: number;
  readonly exited: Promise<AgentExit>;
  models(): AgentOption[];
  currentModel(): string | undefined;
  /** Resolves with the stop reason. @throws agent_failed */
  prompt(text: string): Promise<string>;
  cancel(): void;
  /** @throws unsupported | agent_failed */
  setMode(mode: PermissionMode): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setModel(modelId: string): Promise<void>;
  setPaused(paused: boolean): void;
  end(because?: string): Promise<void>;
}

/** Starts an agent and makes it ready for a prompt. @throws agent_failed | unsupported | invalid_input */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { agent, listener } = options;
  const { definition } = agent;
  const redact = toRedactor(agent.env);
  const process = await spawnAgent({
    command: agent.command,
    args: definition.args,
    directory: options.directory,
    env: { ...agent.env, [AGENT_SESSION_VARIABLE]: options.sessionId },
    graces: options.graces,
    guardian: options.guardian,
    redact,
    onStderr: (text) => listener.onOutput('stderr', text),
  });
  options.onSpawned(process.pid);
  const controls = createControlState(options);
  const connection = createConnection({
    agentName: definition.name,
    signIn: definition.signIn,
    process,
    maxLineBytes: options.maxLineBytes,
    batch: listener.batch,
    onUpdate: controls.onUpdate,
    onPermission: (params, signal) => listener.onPermission(isObject(params) ? params : {}, signal),
    onNoise: (text) => listener.onOutput('noise', redact(text)),
  });
  const stop = () => void process.end('its start was broken off');
  options.signal.addEventListener('abort', stop, { once: true });
  const limit = setTimeout(
    () => void process.end(`it was not ready within ${options.startLimitMs / 1000} s`),
    options.startLimitMs,
  );
  try {
    if (options.signal.aborted) stop();
    const opened = await openConversation(connection, options);
    controls.opened(connection, opened);
    await controls.setMode(options.permissionMode);
    if (options.modelId !== undefined) await controls.setModel(options.modelId);
    return toAgentSession(opened);
  } catch (error) {
    await process.end('it could not be started');
    throw error;
  } finally {
    clearTimeout(limit);
    options.signal.removeEventListener('abort', stop);
  }

  function toAgentSession(opened: Opened): AgentSession {
    const { acpSessionId } = opened;
    return {
      ...opened,
      pid: process.pid,
      exited: connection.exited,
      models: controls.models,
      currentModel: controls.currentModel,
      setMode: controls.setMode,
      setModel: controls.setModel,
      async prompt(text) {
        const prompt = [{ type: 'text', text }];
        const result = await connection.request('session/prompt', { sessionId: acpSessionId, prompt });
        if (isObject(result) && typeof result.stopReason === 'string')
          return result.stopReason.slice(0, EVENT_LIMITS.word);
        throw new KaiwuError('agent_failed', `${definition.name} ended the prompt without a stop reason.`);
      },
      cancel: () => connection.notify('session/cancel', { sessionId: acpSessionId }),
      setPaused: connection.setPaused,
      end: (because) => process.end(because),
    };
  }
}

/** Follows which mode and model the agent is in, by its reports and by what we ask of it. */
function createControlState(options: AgentSessionOptions) {
  const { listener } = options;
  const { definition } = options.agent;
  let connection: AcpConnection | undefined;
  let acpSessionId = '';
  let controls: Controls = {};

  function onUpdate(params: unknown): void {
    const update = isObject(params) && isObject(params.update) ? params.update : undefined;
    if (update === undefined) return;
    if (update.sessionUpdate === 'current_mode_update') {
      if (typeof update.currentModeId === 'string') noteMode(update.currentModeId);
    } else if (update.sessionUpdate === 'config_option_update') {
      noteConfig(update.configOptions);
    } else if (update.sessionUpdate === 'session_info_update') {
      if (typeof update.title === 'string' && update.title !== '') listener.onTitle(update.title);
    } else if (connection !== undefined) {
      // Before that, it replays a conversation that we have.
      listener.onUpdate(update);
    }
  }

  function noteMode(modeId: string): void {
    if (controls.mode === undefined || modeId === controls.mode.current) return;
    controls.mode.current = modeId;
    const modes = Object.entries(definition.modes) as [PermissionMode, string[]][];
    listener.onModeChanged(modeId, modes.find(([, ids]) => ids.includes(modeId))?.[0]);
  }

  function noteConfig(configOptions: unknown): void {
    const next = configChoices(configOptions);
    if (next.mode?.current !== undefined) noteMode(next.mode.current);
    if (next.model === undefined) return;
    const changed = next.model.current !== undefined && next.model.current !== controls.model?.current;
    controls.model = next.model;
    if (changed && connection !== undefined) listener.onModelChanged(next.model.current as string);
  }

  async function select(part: 'mode' | 'model', value: string): Promise<void> {
    const choice = controls[part];
    if (choice === undefined || connection === undefined || choice.current === value) return;
    const before = choice.current;
    choice.current = value;
    const { method, params } = choice.select(acpSessionId, value);
    try {
      const result = await connection.request(method, params);
      if (part === 'model' && isObject(result)) noteConfig(result.configOptions);
    } catch (error) {
      choice.current = before;
      throw error;
    }
  }

  return {
    onUpdate,
    opened(given: AcpConnection, opened: Opened) {
      acpSessionId = opened.acpSessionId;
      controls = toControls(opened.offers);
      // Some agents name their modes only when a conversation is new, and know them all the same.
      if (opened.resumed === 'loaded' && controls.mode === undefined) {
        controls.mode = knownModes(Object.values(definition.modes).flat());
      }
      connection = given;
    },
    models: () => controls.model?.options ?? [],
    currentModel: () => controls.model?.current,
    async setMode(mode: PermissionMode) {
      const wanted = definition.modes[mode];
      // An agent without modes asks about everything, which is what the default means.
      if (controls.mode === undefined && mode === 'default') return;
      const offered = controls.mode?.options.map((option) => option.id) ?? [];
      const target = wanted?.find((id) => offered.includes(id));
      if (target === undefined) throw unsupportedMode(definition, mode, offered);
      await select('mode', target);
    },
    async setModel(modelId: string) {
      const offered = controls.model?.options.map((option) => option.id) ?? [];
      if (!offered.includes(modelId)) throw unknownModel(definition.name, modelId, offered);
      await select('model', modelId);
    },
  };
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Names the modes that can be had instead. */
export function unsupportedMode(
  definition: Pick<FoundAgent['definition'], 'name' | 'modes'>,
  mode: PermissionMode,
  offered?: string[],
): KaiwuError {
  const modes = (Object.entries(definition.modes) as [PermissionMode, string[]][])
    .filter(([, ids]) => offered === undefined || ids.some((id) => offered.includes(id)))
    .map(([name]) => name);
  const hint = modes.length > 0 ? `Use one of ${modes.join(', ')}.` : 'Use the mode default.';
  return new KaiwuError('unsupported', `${definition.name} has no mode for ${mode}.`, {
    hint,
    details: { permissionMode: mode, offered: modes, agentModes: offered },
  });
}

export function unknownModel(agentName: string, modelId: string, offered: string[]): KaiwuError {
  if (offered.length === 0) {
    return new KaiwuError(
      'unsupported',
      `${agentName} does not let its model be chosen: received ${modelId}.`,
      {
        hint: 'Leave the model out, or set it in the agent’s own settings.',
      },
    );
  }
  const message = `${agentName} offers no model ${JSON.stringify(modelId)}`;
  return new KaiwuError('invalid_input', message, {
    hint: `Use one of ${offered.slice(0, MAX_NAMED).join(', ')}.`,
    details: {
      issues: [{ path: 'modelId', message, received: modelId }],
      offered: offered.slice(0, MAX_NAMED),
    },
  });
}
