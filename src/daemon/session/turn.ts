import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { FailureReason, PermissionMode, SessionEventBody, Usage } from '../../core/session.ts';
import type { AgentSession } from '../acp/agent-session.ts';
import type { PermissionOutcome } from '../acp/connection.ts';
import type { Json } from '../acp/json.ts';
import type { AgentExit } from '../acp/process.ts';
import type { QuestionOutcome } from '../acp/questions.ts';
import type { Continuation, StoredMessage } from '../journal/rows.ts';
import type { AttachmentStore } from './attachments.ts';
import { clip } from './bounded.ts';
import type { SessionContext } from './context.ts';
import type { Given } from './desk.ts';
import { toReason } from './reason.ts';
import { createStallWatch } from './stall.ts';
import { createTurnTranscript } from './transcript.ts';
import { createTurnAsks } from './turn-asks.ts';
import { toTurnEnd } from './turn-end.ts';
import { storeSoon, untilStored } from './until-stored.ts';

/** Most characters of a message in its event, which has to fit into a frame of the link. The agent gets all of it. */
const MAX_TEXT = 1024 * 1024;
/** How long an agent that has ended a turn may take to say whether a message still reached it. */
const STEER_MS = 5000;

/** From one user message to the agent's stop. */
export interface Turn {
  readonly messageId: string;
  /** Settles once the end is stored, or cannot be. */
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
  onUsage(usage: Usage): void;
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  onQuestion(params: Json, signal: AbortSignal): Promise<QuestionOutcome>;
  /** Puts a message into it that the journal holds as on its way. */
  steer(message: StoredMessage): void;
  /** @throws not_found | invalid_input */
  answer(requestId: string, given: Given, by: string): void;
  /** Asks the agent to stop. ACP wants every open permission request answered `cancelled` with it. */
  cancel(by: string, reason?: FailureReason): void;
  /** Leaves it as it is for the next daemon, where it waits for a person and can go on. Answers whether it does. */
  leave(): boolean;
  /** Ends it with its agent: what that says cannot be stored, so whatever it makes of the turn is not the whole of it. */
  fail(error: unknown): void;
  /** The backend takes no more at the moment, or does again. */
  setHeld(isHeld: boolean): void;
}

export interface TurnOptions {
  context: SessionContext;
  sessionId: string;
  agent: AgentSession;
  message: StoredMessage;
  /** Goes on with a turn that waited for a person while the daemon was restarted. */
  continuation?: Continuation;
  attachments: AttachmentStore;
  /** Where the session works: the agent's directory first. */
  folders: string[];
  sessionMode(): PermissionMode;
  /** Events of the session that belong to the turn's end, when the agent ended with it. */
  sessionEnd(exit: AgentExit, canceled: boolean): SessionEventBody[];
}

export function createTurn(options: TurnOptions): Turn {
  const { context, sessionId, agent, message, continuation } = options;
  const { messageId } = message;
  const { journal, limits } = context;
  const append = (events: SessionEventBody[]) => void journal.append(sessionId, events);
  const appendSoon = (events: SessionEventBody[]) => storeSoon(context, () => append(events));
  const transcript = createTurnTranscript(
    messageId,
    {
      append,
      delta: (delta) => context.delta({ sessionId, ...delta }),
      onError: fail,
    },
    options.attachments,
  );
  const stall = createStallWatch({
    messageId,
    stallMs: limits.stallMs,
    now: context.runtime.now,
    append: (event) => appendSoon([event]),
  });
  const asks = createTurnAsks({
    messageId,
    transcript,
    folders: options.folders,
    mode: () => modeOverride ?? options.sessionMode(),
    append: appendAfterText,
    newId: context.runtime.newUuid,
    limitMs: limits.permissionMs,
    continuation,
    onAllowed: (kind) => {
      if (kind === 'switch_mode') modeSwitchAllowed = true;
    },
    onOpen: (isOpen) => stall.hold('person', isOpen),
  });
  let modeOverride = message.permissionMode;
  let modeSwitchAllowed = false;
  let canceled: { reason?: FailureReason } | undefined;
  let left = false;
  let broken: unknown;
  let usage: Usage | undefined;
  const steering = new Map<string, Promise<void>>();
  const { promise: ended, settle } = whenSettled();

  /** What is asked stands behind what was said before. */
  function appendAfterText(events: SessionEventBody[]): void {
    if (events.length > 0) appendSoon([...transcript.take(), ...events]);
  }

  async function prompt(): Promise<{ stopReason: string; usage?: Usage }> {
    if (continuation === undefined) append([toUserMessage(message)]);
    else journal.setContinuation(sessionId, undefined);
    if (message.permissionMode !== undefined) await agent.setMode(message.permissionMode);
    if (message.modelId !== undefined) await agent.setModel(message.modelId);
    if (canceled !== undefined) return { stopReason: 'cancelled' };
    const replay = journal.session(sessionId)?.replay;
    if (replay !== undefined) journal.setReplay(sessionId, undefined);
    return agent.prompt(`${replay ?? ''}${continuation?.text ?? message.text}`);
  }

  async function run(): Promise<void> {
    await runToEnd().finally(settle);
  }

  async function runToEnd(): Promise<void> {
    const answer = await prompt().catch((error: unknown) => ({ error }));
    const result = broken === undefined ? answer : { error: broken };
    await Promise.race([Promise.all(steering.values()), sleep(STEER_MS, undefined, { ref: false })]);
    stall.stop();
    const exit = await exitOf(agent);
    const rest = transcript.take();
    if (left) {
      await untilStored(context, () => append(rest));
    } else {
      const events = [...rest, ...asks.close('daemon')];
      await untilStored(context, () => {
        append([...events, ...toTurnEnd({ journal, sessionId, messageId, result, canceled, usage })]);
        if (exit !== undefined) append(options.sessionEnd(exit, canceled !== undefined));
      });
    }
  }

  function fail(error: unknown): void {
    const because = `its output cannot be stored: ${toReason(error).message}`;
    broken ??= new KaiwuError('agent_failed', `The agent was ended: ${because}`);
    void agent.end(because);
  }

  /** A message counts as given once the agent has taken it, and what it did not take waits for its own turn. */
  async function steer({ messageId: steered, text }: StoredMessage): Promise<void> {
    try {
      await agent.steer(text);
      await untilStored(context, () => {
        // The turn may have ended without the agent's word, and the message with it.
        if (!journal.steering(sessionId).some((waiting) => waiting.messageId === steered)) return;
        append([
          { type: 'user_message', messageId: steered, text: clip(text, MAX_TEXT), steered: messageId },
        ]);
      });
    } catch (error) {
      context.log.info(
        { sessionId, messageId: steered, error },
        'a message did not reach the turn it was for',
      );
      // Of an agent that died nobody knows whether it took it; the turn's end says that.
      if (error instanceof KaiwuError && error.code === 'agent_failed') return;
      await untilStored(context, () => journal.requeue(steered));
    }
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
    onUpdate(update) {
      if (transcript.add(update)) stall.heard();
    },
    onUsage(next) {
      usage = { ...usage, ...next };
    },
    onPermission: asks.onPermission,
    onQuestion: asks.onQuestion,
    steer: (steered) => void steering.set(steered.messageId, steer(steered)),
    answer: asks.answer,
    cancel(by, reason) {
      if (canceled !== undefined) return;
      canceled = { reason };
      agent.setPaused(false);
      agent.cancel();
      appendAfterText(asks.close(by));
    },
    leave() {
      left = canceled === undefined && asks.leave(agent.features);
      return left;
    },
    fail,
    setHeld: (isHeld) => stall.hold('backend', isHeld),
  };
}

/** Already settled when the agent is gone; then it wins. */
const exitOf = (agent: AgentSession): Promise<AgentExit | undefined> =>
  Promise.race([agent.exited, Promise.resolve(undefined)]);

const toUserMessage = ({ messageId, text, permissionMode, modelId }: StoredMessage): SessionEventBody => ({
  type: 'user_message',
  messageId,
  text: clip(text, MAX_TEXT),
  ...(permissionMode === undefined ? {} : { permissionMode }),
  ...(modelId === undefined ? {} : { modelId }),
});

function whenSettled(): { promise: Promise<void>; settle(): void } {
  let settle = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
