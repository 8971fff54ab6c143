import { EVENT_LIMITS } from '../../core/link.ts';
import type {
  FailureReason,
  PermissionMode,
  PermissionOption,
  SessionEventBody,
} from '../../core/session.ts';
import type { AgentSession } from '../acp/agent-session.ts';
import type { PermissionOutcome } from '../acp/connection.ts';
import type { AgentExit } from '../acp/process.ts';
import type { StoredMessage } from '../journal/rows.ts';
import { clip, toShortId } from './bounded.ts';
import type { SessionContext } from './context.ts';
import { createPermissionDesk } from './permissions.ts';
import { toReason } from './reason.ts';
import { createTurnTranscript } from './transcript.ts';
import { storeSoon, untilStored } from './until-stored.ts';

type Json = Record<string, unknown>;

/** Most characters of a message in its event, which has to fit into a frame of the link. The agent gets all of it. */
const MAX_TEXT = 1024 * 1024;

/** From one user message to the agent's stop. */
export interface Turn {
  readonly messageId: string;
  /** Settles once the end is stored. */
  readonly ended: Promise<void>;
  readonly canceled: boolean;
  /** Mode of this turn alone, where the message asked for one or a person allowed the agent another. */
  modeOverride: PermissionMode | undefined;
  /** Whether the message asked for a model of its own. */
  readonly hasModelOverride: boolean;
  /** A person allowed the agent to leave its mode in this turn. */
  readonly modeSwitchAllowed: boolean;
  run(): Promise<void>;
  onUpdate(update: Json): void;
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  answer(requestId: string, optionId: string | undefined, by: string): void;
  /** Asks the agent to stop. ACP wants every open permission request answered `cancelled` with it. */
  cancel(by: string, reason?: FailureReason): void;
}

export function createTurn(options: {
  context: SessionContext;
  sessionId: string;
  agent: AgentSession;
  message: StoredMessage;
  sessionMode(): PermissionMode;
  /** Events of the session that belong to the turn's end, when the agent ended with it. */
  sessionEnd(exit: AgentExit, canceled: boolean): SessionEventBody[];
}): Turn {
  const { context, sessionId, agent, message } = options;
  const { messageId } = message;
  const { journal } = context;
  const append = (events: SessionEventBody[]) => void journal.append(sessionId, events);
  const transcript = createTurnTranscript(messageId, {
    append,
    delta: (delta) => context.delta({ sessionId, ...delta }),
    onError: (error) => void agent.end(`its output cannot be stored: ${toReason(error).message}`),
  });
  let modeOverride = message.permissionMode;
  let modeSwitchAllowed = false;
  let canceled: { reason?: FailureReason } | undefined;
  let settle = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const desk = createPermissionDesk({
    messageId,
    mode: () => modeOverride ?? options.sessionMode(),
    append: (events) => storeSoon(context, () => append(events)),
    newId: context.runtime.newUuid,
    limitMs: context.limits.permissionMs,
    onAllowed: (kind) => {
      if (kind === 'switch_mode') modeSwitchAllowed = true;
    },
  });

  async function prompt(): Promise<string> {
    append([
      {
        type: 'user_message',
        messageId,
        text: clip(message.text, MAX_TEXT),
        ...(message.permissionMode === undefined ? {} : { permissionMode: message.permissionMode }),
        ...(message.modelId === undefined ? {} : { modelId: message.modelId }),
      },
    ]);
    if (message.permissionMode !== undefined) await agent.setMode(message.permissionMode);
    if (message.modelId !== undefined) await agent.setModel(message.modelId);
    return canceled === undefined ? agent.prompt(message.text) : 'cancelled';
  }

  async function run(): Promise<void> {
    const result = await prompt().then(
      (stopReason) => ({ stopReason }),
      (error: unknown) => ({ error }),
    );
    // Already settled when the agent is gone; then it wins.
    const exit = await Promise.race([agent.exited, Promise.resolve(undefined)]);
    const events = [...transcript.finish(), ...desk.close('daemon'), toEnd(result)];
    if (exit !== undefined) events.push(...options.sessionEnd(exit, canceled !== undefined));
    await untilStored(context, () => append(events));
    settle();
  }

  function toEnd(result: { stopReason: string } | { error: unknown }): SessionEventBody {
    const end = { type: 'turn_ended', messageId } as const;
    const stopReason = 'stopReason' in result ? { stopReason: result.stopReason } : {};
    if (canceled !== undefined) {
      return {
        ...end,
        outcome: 'canceled',
        ...stopReason,
        ...(canceled.reason ? { reason: canceled.reason } : {}),
      };
    }
    if ('error' in result) return { ...end, outcome: 'failed', reason: toReason(result.error) };
    return { ...end, outcome: result.stopReason === 'cancelled' ? 'canceled' : 'completed', ...stopReason };
  }

  return {
    messageId,
    ended,
    run,
    hasModelOverride: message.modelId !== undefined,
    get canceled() {
      return canceled !== undefined;
    },
    get modeOverride() {
      return modeOverride;
    },
    set modeOverride(mode) {
      modeOverride = mode;
    },
    get modeSwitchAllowed() {
      return modeSwitchAllowed;
    },
    onUpdate: (update) => transcript.add(update),
    async onPermission(params, signal) {
      const call = transcript.toolCall(isObject(params.toolCall) ? params.toolCall : {});
      const kind = typeof call.kind === 'string' ? call.kind : 'other';
      const title = typeof call.title === 'string' ? call.title : kind;
      const offered = toOptions(params.options);
      const options = offered.map(({ optionId, name, kind: meaning }) => ({ optionId, name, kind: meaning }));
      const { outcome } = await desk.ask({ title, kind, options }, signal);
      if (outcome.outcome === 'cancelled') return { outcome };
      const chosen = offered.find(({ optionId }) => optionId === outcome.optionId);
      return { outcome: { ...outcome, optionId: chosen?.agentOptionId ?? outcome.optionId } };
    },
    answer: desk.answer,
    cancel(by, reason) {
      if (canceled !== undefined) return;
      canceled = { reason };
      agent.setPaused(false);
      agent.cancel();
      const canceledRequests = desk.close(by);
      storeSoon(context, () => append(canceledRequests));
    },
  };
}

const OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** Options with the agent's own ids. Those of a kind that is not known cannot be chosen safely and are left out. */
function toOptions(options: unknown): (PermissionOption & { agentOptionId: string })[] {
  const first = Array.isArray(options)
    ? options.filter(isObject).slice(0, EVENT_LIMITS.permissionOptions)
    : [];
  return first.flatMap((option) => {
    const kind = OPTION_KINDS.find((known) => known === option.kind);
    if (kind === undefined || typeof option.optionId !== 'string') return [];
    return [
      {
        agentOptionId: option.optionId,
        optionId: toShortId(option.optionId),
        name: (typeof option.name === 'string' ? option.name : option.optionId).slice(0, EVENT_LIMITS.name),
        kind,
      },
    ];
  });
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
