import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { FailureReason, PermissionMode, SessionEventBody } from '../../core/session.ts';
import type { AgentSession } from '../acp/agent-session.ts';
import { unknownModel, unsupportedMode } from '../acp/control-errors.ts';
import { toExitError } from '../acp/connection.ts';
import type { AgentExit } from '../acp/process.ts';
import type { StoredMessage, StoredSession } from '../journal/rows.ts';
import { createAgentSlot } from './agent-slot.ts';
import type { SessionContext } from './context.ts';
import { createModeKeeper } from './mode-keeper.ts';
import { toReason } from './reason.ts';
import { toLateEvents } from './transcript.ts';
import { createTurn, type Turn } from './turn.ts';
import { storeSoon, untilStored } from './until-stored.ts';

/** One session: its agent, its queue, and one turn at a time. */
export interface ManagedSession {
  /** Resolves when the agent is ready. @throws why it did not start */
  start(): Promise<void>;
  /** Runs what is queued, starting the agent where need be. */
  kick(): void;
  /** Answers whether there was a turn; it has ended then. */
  interrupt(): Promise<boolean>;
  /** Idempotent. */
  stop(): Promise<void>;
  /** @throws unsupported | agent_failed */
  setMode(mode: PermissionMode): Promise<void>;
  /** @throws invalid_input | unsupported | agent_failed */
  setModel(modelId: string): Promise<void>;
  /** @throws not_found | invalid_input */
  answer(requestId: string, optionId: string | undefined, by: string): void;
  /** Goes on reading: the backend has caught up, or is away. */
  resume(): void;
  /** Ends the agent for the end of the daemon. What is queued stays. */
  shutdown(graceMs: number): Promise<void>;
}

const STOPPED: FailureReason = { code: 'canceled', message: 'The session was stopped.' };
const DAEMON_STOPPED: FailureReason = {
  code: 'canceled',
  message: 'The daemon was stopped; the next message starts the agent again.',
};

export function createSession(context: SessionContext, sessionId: string): ManagedSession {
  const { journal, log, limits } = context;
  let turn: Turn | undefined;
  /** Somebody asked for the queue to be run since it was last looked at. */
  let asked = false;
  let running = false;
  let stopping: Promise<void> | undefined;
  let ending = false;
  let title: string | undefined;
  let control: Promise<unknown> = Promise.resolve();

  const read = (): StoredSession => journal.session(sessionId) as StoredSession;
  const append = (...events: SessionEventBody[]) => void journal.append(sessionId, events);
  const definition = () => context.registry.describe(read().agentId);
  /** Mode and model are set one after the other, so that the last one asked for is the one in force. */
  function oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const result = control.then(work);
    control = result.catch(() => {});
    return result;
  }

  const onModeChanged = createModeKeeper({
    append,
    turn: () => turn,
    sessionMode: () => read().permissionMode,
    putBack: (mode) => {
      oneByOne(async () => slot.current?.setMode(mode)).catch((error: unknown) =>
        log.warn({ sessionId, error }, 'an agent did not go back to its mode'),
      );
    },
  });

  const slot = createAgentSlot({
    context,
    sessionId,
    onFailed,
    onExit,
    listener: {
      batch(work) {
        try {
          journal.transaction(work);
        } catch (error) {
          log.error({ sessionId, error }, 'the output of an agent cannot be stored');
          void slot.end('its output cannot be stored');
        }
        if (turn?.canceled === false && context.isAhead(sessionId)) slot.current?.setPaused(true);
      },
      onUpdate(update) {
        if (turn === undefined) append(...toLateEvents(update));
        else turn.onUpdate(update);
      },
      onPermission: (params, signal) =>
        turn?.onPermission(params, signal) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } }),
      onModeChanged,
      onModelChanged(modelId) {
        if (turn?.hasModelOverride !== true) append({ type: 'model_changed', modelId });
      },
      onTitle(next) {
        if (next !== title) append({ type: 'title_suggested', title: next.slice(0, 500) });
        title = next;
      },
    },
  });

  /** Without an agent, what is queued cannot run: each message ends with the reason, and so does the session. */
  function onFailed(error: unknown): Promise<void> {
    const reason = toReason(error);
    return untilStored(context, () => {
      for (const { messageId, text } of journal.queued(sessionId)) {
        append(
          { type: 'user_message', messageId, text },
          { type: 'turn_ended', messageId, outcome: 'failed', reason },
        );
      }
      append({ type: 'session_failed', reason });
    });
  }

  /** What the end of the agent means for the session, unless its end is what was asked for. */
  function toSessionEnd(exit: AgentExit, canceled: boolean): SessionEventBody[] {
    if (ending || stopping !== undefined) return [];
    const reason = toReason(toExitError(definition().name, exit));
    const wanted = canceled || (exit.because === undefined && exit.code === 0 && turn === undefined);
    return [{ type: wanted ? 'session_stopped' : 'session_failed', reason }];
  }

  function onExit(exit: AgentExit): void {
    // A turn stores the end of the agent together with its own.
    if (turn !== undefined) return;
    const events = toSessionEnd(exit, false);
    if (events.length > 0) storeSoon(context, () => append(...events));
  }

  async function keepRunning(): Promise<void> {
    running = true;
    while (asked) {
      asked = false;
      await runQueue().catch((error: unknown) =>
        log.error({ sessionId, error }, 'a session’s queue stopped; the next message starts it again'),
      );
    }
    running = false;
  }

  async function runQueue(): Promise<void> {
    for (;;) {
      if (ending) return;
      if (stopping !== undefined) await stopping;
      const message = journal.queued(sessionId)[0];
      if (message === undefined) return;
      const agent = await slot.ready().catch(() => undefined);
      if (agent !== undefined) await runTurn(agent, message);
      // The start stored its failure with the message, unless it was broken off.
      else if (stopping === undefined && journal.queued(sessionId)[0]?.messageId === message.messageId)
        return;
    }
  }

  async function runTurn(agent: AgentSession, message: StoredMessage): Promise<void> {
    const modelBefore = read().modelId ?? agent.currentModel();
    const current = createTurn({
      context,
      sessionId,
      agent,
      message,
      sessionMode: () => read().permissionMode,
      sessionEnd: toSessionEnd,
    });
    turn = current;
    await current.run().finally(() => {
      turn = undefined;
    });
    if (slot.current === agent) await restore(agent, current, modelBefore);
  }

  /** Ends what the message asked for its own turn. An agent that cannot go back must not go on. */
  async function restore(
    agent: AgentSession,
    { modeOverride, hasModelOverride }: Turn,
    model: string | undefined,
  ) {
    try {
      if (modeOverride !== undefined) await oneByOne(() => agent.setMode(read().permissionMode));
      if (hasModelOverride && model !== undefined) await oneByOne(() => agent.setModel(model));
    } catch (error) {
      if (slot.current === agent)
        await agent.end(`it did not go back to its mode or model: ${toReason(error).message}`);
    }
  }

  async function stopNow(): Promise<void> {
    await untilStored(context, () => {
      append(
        ...journal
          .queued(sessionId)
          .map(
            ({ messageId }): SessionEventBody => ({ type: 'message_canceled', messageId, reason: STOPPED }),
          ),
      );
    });
    await endAgent(STOPPED, 0);
    if (read().status !== 'stopped')
      await untilStored(context, () => append({ type: 'session_stopped', reason: STOPPED }));
  }

  async function endAgent(reason: FailureReason, graceMs: number): Promise<void> {
    const current = turn;
    current?.cancel('session', reason);
    if (current !== undefined && graceMs > 0) await Promise.race([current.ended, sleep(graceMs)]);
    await slot.end(reason.message);
    await current?.ended;
  }

  return {
    async start() {
      await slot.ready();
    },
    kick() {
      asked = true;
      if (!running) void keepRunning();
    },
    async interrupt() {
      const current = turn;
      const agent = slot.current;
      if (current === undefined) return false;
      current.cancel('interrupt');
      const limit = setTimeout(() => {
        void agent?.end(`it did not stop its turn within ${limits.interruptMs / 1000} s`);
      }, limits.interruptMs);
      await current.ended.finally(() => clearTimeout(limit));
      return true;
    },
    stop() {
      stopping ??= stopNow().finally(() => {
        stopping = undefined;
      });
      return stopping;
    },
    async setMode(mode) {
      await oneByOne(async () => {
        const agent = slot.current;
        // A turn that has a mode of its own keeps it to its end.
        if (agent !== undefined && turn?.modeOverride === undefined) await agent.setMode(mode);
        else if (mode !== 'default' && definition().modes[mode] === undefined)
          throw unsupportedMode(definition(), mode);
        if (read().permissionMode !== mode) append({ type: 'mode_changed', permissionMode: mode });
      });
    },
    async setModel(modelId) {
      await oneByOne(async () => {
        const agent = slot.current;
        const { models } = read();
        const offered = (models.length > 0 ? models : definition().models).map((model) => model.id);
        if (agent !== undefined && turn?.hasModelOverride !== true) await agent.setModel(modelId);
        else if (!offered.includes(modelId)) throw unknownModel(definition().name, modelId, offered);
        if (read().modelId !== modelId) append({ type: 'model_changed', modelId });
      });
    },
    answer(requestId, optionId, by) {
      if (turn === undefined) {
        throw new KaiwuError(
          'not_found',
          `Session ${sessionId} has no open permission request ${requestId}.`,
          {
            hint: 'Its turn has ended: read the session again.',
          },
        );
      }
      turn.answer(requestId, optionId, by);
    },
    resume: () => slot.current?.setPaused(false),
    async shutdown(graceMs) {
      ending = true;
      const wasUp = slot.current !== undefined || turn !== undefined || read().status === 'starting';
      await endAgent(DAEMON_STOPPED, graceMs);
      if (wasUp)
        await untilStored(context, () => append({ type: 'session_stopped', reason: DAEMON_STOPPED }));
    },
  };
}
