import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_LIMITS } from '../../core/link.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { AgentOption, ConfigOption, PermissionMode, Usage } from '../../core/session.ts';
import { AGENT_SESSION_VARIABLE } from '../../core/agent-mark.ts';
import { toRedactor, withOwnMachine } from '../../process/environment.ts';
import type { FoundAgent } from '../agents/registry.ts';
import { createConnection, type PermissionOutcome } from './connection.ts';
import { createControlState } from './control-state.ts';
import type { EndGraces } from '../../process/group.ts';
import type { Guardian } from '../../process/guardian.ts';
import { isObject, type Json } from './json.ts';
import { secretsOf } from './mcp-servers.ts';
import { type McpServerConfig, type Opened, openConversation } from './open.ts';
import { type AgentExit, spawnAgent } from './process.ts';
import type { QuestionOutcome } from './questions.ts';
import { createUsageMeter } from './usage.ts';

/** How long an agent may take, milliseconds, to close its conversation before it is ended. */
const CLOSE_MS = 1000;

/** What its owner hears of a running agent. */
export interface AgentListener {
  batch(work: () => void): void;
  /** An update that is about the conversation. */
  onUpdate(update: Json): void;
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  /** The agent asks the person something: the parameters of `elicitation/create` in form mode, unchecked. */
  onQuestion(params: Json, signal: AbortSignal): Promise<QuestionOutcome>;
  /** The agent changed its own mode; `mode` is ours for it, if there is one. */
  onModeChanged(agentModeId: string, mode: PermissionMode | undefined): void;
  /** The agent changed its own model, or says so after we did; `models` where it offers others now. */
  onModelChanged(modelId: string, models?: AgentOption[]): void;
  /** Its settings beside mode and model are others now, or have other values. */
  onConfigOptions(options: ConfigOption[]): void;
  /** What the conversation used so far, as far as the agent has said. */
  onUsage(usage: Usage): void;
  onTitle(title: string): void;
  onOutput(kind: 'noise' | 'stderr', text: string): void;
}

export interface AgentSessionOptions {
  /** Ours; marks the process and all that it starts. */
  sessionId: string;
  agent: FoundAgent;
  directory: string;
  /** Absolute. Refused as `unsupported` where the agent knows no such thing. */
  additionalDirectories?: string[];
  /** Added to the agent's environment; the values reach no log and no error. */
  environment?: Record<string, string>;
  permissionMode: PermissionMode;
  modelId?: string;
  /** Conversation to go on with, by the agent's own id. */
  acpSessionId?: string;
  /** Conversation to go on with in a copy, by the agent's own id. `acpSessionId` comes first. */
  forkOf?: string;
  mcpServers: McpServerConfig[];
  version: string;
  startLimitMs: number;
  /** How long it may take to answer a change of mode, model or setting while no turn has it busy. */
  controlLimitMs: number;
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
  /** Settings beside mode and model. */
  configOptions(): ConfigOption[];
  /** @throws agent_failed | agent_needs_setup */
  prompt(text: string): Promise<{ stopReason: string; usage?: Usage }>;
  /**
   * Puts a message into the turn that runs; resolves when the agent has taken it.
   * @throws unsupported | conflict when it did not take it; agent_failed when it ended before it said so
   */
  steer(text: string): Promise<void>;
  cancel(): void;
  /** @throws unsupported | agent_failed */
  setMode(mode: PermissionMode): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setModel(modelId: string): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setConfigOption(configId: string, value: string | boolean): Promise<void>;
  setPaused(paused: boolean): void;
  /** Has it close its conversation where it can, then ends it. */
  end(because?: string): Promise<void>;
}

/**
 * Starts an agent and makes it ready for a prompt.
 * @throws agent_failed | agent_needs_setup | unsupported | invalid_input
 */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { agent, listener } = options;
  const { definition } = agent;
  const { environment = {} } = options;
  const secrets = [...agent.secrets, ...Object.values(environment), ...options.mcpServers.flatMap(secretsOf)];
  const redact = toRedactor(agent.env, secrets);
  const process = await spawnAgent({
    command: agent.command,
    args: definition.args,
    directory: options.directory,
    env: { ...withOwnMachine({ ...agent.env, ...environment }), [AGENT_SESSION_VARIABLE]: options.sessionId },
    graces: options.graces,
    guardian: options.guardian,
    redact,
    onStderr: (text) => listener.onOutput('stderr', text),
  });
  options.onSpawned(process.pid);
  const usage = createUsageMeter();
  const controls = createControlState({ definition, listener, usage });
  const onNoise = (text: string) => listener.onOutput('noise', redact(text));
  const connection = createConnection({
    agentName: definition.name,
    signIn: definition.signIn,
    process,
    maxLineBytes: options.maxLineBytes,
    redact,
    batch: listener.batch,
    onUpdate: controls.onUpdate,
    onPermission: listener.onPermission,
    onQuestion: listener.onQuestion,
    onNoise,
  });
  const stop = () => void process.end('its start was broken off');
  options.signal.addEventListener('abort', stop, { once: true });
  const limit = setTimeout(
    () => void process.end(`it was not ready within ${options.startLimitMs / 1000} s`),
    options.startLimitMs,
  );
  try {
    if (options.signal.aborted) stop();
    const { keySignIn } = definition;
    const hasKey = keySignIn?.variables.some((name) => (environment[name] ?? agent.env[name] ?? '') !== '');
    const signInMethod = hasKey ? keySignIn?.methodId : undefined;
    const opened = await openConversation(connection, { ...options, signInMethod, onNote: onNoise });
    controls.opened(connection, opened);
    // Known also when it has no such mode as is asked for next.
    agent.learn({ at: 'start', features: opened.features, modeIds: controls.modeIds() });
    await controls.setMode(options.permissionMode);
    if (options.modelId !== undefined) await controls.setModel(options.modelId);
    return toAgentSession(opened);
  } catch (error) {
    if (!options.signal.aborted) agent.learn({ at: 'start', error });
    await process.end('it could not be started');
    throw error;
  } finally {
    clearTimeout(limit);
    options.signal.removeEventListener('abort', stop);
  }

  function toAgentSession(opened: Opened): AgentSession {
    const { acpSessionId, features } = opened;
    let prompts = 0;
    const toPrompt = (text: string) => ({ sessionId: acpSessionId, prompt: [{ type: 'text', text }] });

    async function prompt(text: string): Promise<{ stopReason: string; usage?: Usage }> {
      prompts += 1;
      try {
        const result = await connection.request('session/prompt', toPrompt(text));
        if (!isObject(result) || typeof result.stopReason !== 'string')
          throw new KaiwuError('agent_failed', `${definition.name} ended the prompt without a stop reason.`);
        agent.learn({ at: 'prompt' });
        const before = usage.current();
        const used = usage.onPrompt(result);
        if (used !== undefined && used !== before) listener.onUsage(used);
        const stopReason = result.stopReason.slice(0, EVENT_LIMITS.word);
        return used === undefined ? { stopReason } : { stopReason, usage: used };
      } catch (error) {
        agent.learn({ at: 'prompt', error });
        throw error;
      } finally {
        prompts -= 1;
      }
    }

    /** One that never answers would hold up everything that comes after. */
    async function inTime(change: Promise<void>): Promise<void> {
      const limitMs = options.controlLimitMs;
      const limit = setInterval(() => {
        if (prompts === 0)
          void process.end(`it did not answer a change of its settings within ${limitMs / 1000} s`);
      }, limitMs);
      await change.finally(() => clearInterval(limit));
    }

    async function steer(text: string): Promise<void> {
      if (!features.includes('steer')) throw cannotSteer(definition.name);
      if (prompts === 0) throw turnIsOver(definition.name);
      // Where the turn has ended meanwhile, the message must not become a turn that nobody follows.
      const ours = { _meta: { steering: { idleBehavior: 'promptRequired' } } };
      const result = await connection
        .request('_session/steering', { ...toPrompt(text), ...ours })
        .catch(async (error: unknown) => {
          const isGone = await Promise.race([connection.exited, Promise.resolve(undefined)]);
          throw isGone === undefined ? turnIsOver(definition.name, error) : error;
        });
      if (!isObject(result) || result.outcome !== 'injected') throw turnIsOver(definition.name);
    }

    const close = features.includes('close')
      ? () => {
          // Its answer may stand behind what was not read yet.
          connection.setPaused(false);
          const closed = connection.request('session/close', { sessionId: acpSessionId });
          return Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
        }
      : undefined;

    return {
      ...opened,
      pid: process.pid,
      exited: connection.exited,
      models: controls.models,
      currentModel: controls.currentModel,
      configOptions: controls.settings,
      setMode: (mode) => inTime(controls.setMode(mode)),
      setModel: (modelId) => inTime(controls.setModel(modelId)),
      setConfigOption: (configId, value) => inTime(controls.setSetting(configId, value)),
      prompt,
      steer,
      cancel: () => connection.notify('session/cancel', { sessionId: acpSessionId }),
      setPaused: connection.setPaused,
      end: (because) => process.end(because, close),
    };
  }
}

const cannotSteer = (name: string): KaiwuError =>
  new KaiwuError('unsupported', `${name} takes no message into a turn that runs.`, {
    hint: 'Let the message wait for the end of the turn, or interrupt the turn.',
  });

const turnIsOver = (name: string, cause?: unknown): KaiwuError =>
  new KaiwuError('conflict', `${name} did not take the message into its turn.`, {
    hint: 'Send the message as the next one.',
    cause,
  });
