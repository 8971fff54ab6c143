import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { FailureReason, SessionEventBody } from '../../core/session.ts';
import type { AgentSession } from '../acp/agent-session.ts';
import { toExitError } from '../acp/connection.ts';
import type { AgentExit } from '../acp/process.ts';
import type { StoredMessage, StoredSession } from '../journal/rows.ts';
import { createAgentSlot } from './agent-slot.ts';
import { createAttachmentStore } from './attachments.ts';
import type { SessionContext } from './context.ts';
import { type Given, notOpen } from './desk.ts';
import { toFileName } from './log.ts';
import { findParked } from './parked.ts';
import { toReason } from './reason.ts';
import { createSessionControls, type SessionControls } from './session-controls.ts';
import { createSessionListener } from './session-listener.ts';
import { createTurn, type Turn } from './turn.ts';
import { toTurnEnd } from './turn-end.ts';
import { storeSoon, untilStored } from './until-stored.ts';

/** One session: its agent, its queue, and one turn at a time. */
export interface ManagedSession extends Pick<SessionControls, 'setMode' | 'setModel' | 'setConfigOption'> {
  /** Resolves when the agent is ready. @throws why it did not start */
  start(): Promise<void>;
  /** Runs what is queued, starting the agent where need be. */
  kick(): void;
  /** A turn runs that a message can be put into. */
  readonly isSteerable: boolean;
  /** Puts a message into that turn; what the agent does not take is queued. */
  steer(message: StoredMessage): void;
  /** Answers whether there was a turn; it has ended then. */
  interrupt(): Promise<boolean>;
  /** Idempotent. */
  stop(): Promise<void>;
  /** @throws not_found | invalid_input */
  answer(requestId: string, given: Given, by: string): void;
  /** Goes on reading: the backend has caught up, or is away. */
  resume(): void;
  /** Ends the agent for the end of the daemon. What is queued stays, and so does a turn that waits for a person. */
  shutdown(graceMs: number): Promise<void>;
}

const STOPPED: FailureReason = { code: 'canceled', message: 'The session was stopped.' };
const INTERRUPTED: FailureReason = {
  code: 'canceled',
  message: 'The turn was interrupted; the next message starts the agent again.',
};
/** Not `canceled`: that is for what a person asks for. */
const DAEMON_STOPPED: FailureReason = {
  code: 'daemon_not_running',
  message: 'The daemon was stopped; the next message starts the agent again.',
};
const UNKNOWING = 'The agent could not load the conversation in which it waited, so it cannot go on with it.';

export function createSession(context: SessionContext, sessionId: string): ManagedSession {
  const { journal, log, limits } = context;
  let turn: Turn | undefined;
  /** Somebody asked for the queue to be run since it was last looked at. */
  let asked = false;
  let running = false;
  let stopping: Promise<void> | undefined;
  let ending = false;

  const read = (): StoredSession => journal.session(sessionId) as StoredSession;
  const append = (...events: SessionEventBody[]) => void journal.append(sessionId, events);
  const name = () => context.registry.describe(read().agentId).name;
  const attachments = createAttachmentStore({
    directory: join(context.sessionLogs, toFileName(sessionId), 'attachments'),
    limits: limits.attachments,
  });
  const controls = createSessionControls({
    context,
    sessionId,
    read,
    append,
    agent: () => slot.settled(),
    turn: () => turn,
  });
  const slot = createAgentSlot({
    context,
    sessionId,
    onFailed,
    onExit,
    listener: createSessionListener({
      context,
      sessionId,
      append,
      turn: () => turn,
      slot: () => slot,
      controls,
      setPaused,
    }),
  });
  let parked = findParked(context, sessionId, kick);

  function setPaused(isPaused: boolean): void {
    slot.current?.setPaused(isPaused);
    turn?.setHeld(isPaused);
  }

  /** Without an agent, what is queued cannot run: each message ends with the reason, and so does the session. */
  function onFailed(error: unknown): Promise<void> {
    const reason = toReason(error);
    return untilStored(context, () => {
      endParked(error);
      for (const { messageId, text } of journal.queued(sessionId)) {
        append(
          { type: 'user_message', messageId, text },
          { type: 'turn_ended', messageId, outcome: 'failed', reason },
        );
      }
      append({ type: 'session_failed', reason });
    });
  }

  /** Ends a turn that was to go on and cannot. */
  function endParked(error: unknown): void {
    if (parked === undefined) return;
    append(...toTurnEnd({ journal, sessionId, messageId: parked.message.messageId, result: { error } }));
    journal.setContinuation(sessionId, undefined);
    parked = undefined;
  }

  /** What the end of the agent means for the session, unless its end is what was asked for. */
  function toSessionEnd(exit: AgentExit, canceled: boolean): SessionEventBody[] {
    if (ending || stopping !== undefined) return [];
    const reason = toReason(toExitError(name(), exit));
    const wanted = canceled || (exit.because === undefined && exit.code === 0 && turn === undefined);
    return [{ type: wanted ? 'session_stopped' : 'session_failed', reason }];
  }

  function onExit(exit: AgentExit): void {
    // A turn stores the end of the agent together with its own.
    if (turn !== undefined) return;
    const events = toSessionEnd(exit, false);
    if (events.length > 0) storeSoon(context, () => append(...events));
  }

  function kick(): void {
    asked = true;
    if (!running) void keepRunning();
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

  /** What runs next: a turn that goes on before what is queued, and nothing while one waits for a person. */
  const next = (): StoredMessage | undefined => {
    if (parked === undefined) return journal.queued(sessionId)[0];
    return parked.isAnswered ? parked.message : undefined;
  };

  async function runQueue(): Promise<void> {
    for (;;) {
      if (ending) return;
      if (stopping !== undefined) await stopping;
      const waiting = next();
      if (waiting === undefined) return;
      const agent = await slot.ready().catch(() => undefined);
      // An agent that is about to be ended gets nothing more.
      if (stopping !== undefined || ending) continue;
      // Another message may have gone to the front in the meantime.
      const message = next();
      if (agent !== undefined && message !== undefined) await runTurn(agent, message);
      // The start stored its failure with the message.
      else if (message?.messageId === waiting.messageId) return;
    }
  }

  async function runTurn(agent: AgentSession, message: StoredMessage): Promise<void> {
    const session = read();
    const continuation = parked === undefined ? undefined : session.continuation;
    if (continuation !== undefined && agent.resumed === 'without_history' && session.replay === undefined) {
      return untilStored(context, () => endParked(new KaiwuError('agent_failed', UNKNOWING)));
    }
    parked = undefined;
    const current = createTurn({
      context,
      sessionId,
      agent,
      message,
      continuation,
      attachments,
      folders: [session.worktree?.directory ?? session.directory, ...session.additionalDirectories],
      sessionMode: controls.sessionMode,
      sessionEnd: toSessionEnd,
    });
    const modelBefore = agent.currentModel();
    turn = current;
    await current.run().finally(() => {
      turn = undefined;
    });
    if (slot.current === agent) await controls.restore(agent, current, modelBefore);
  }

  async function stopNow(): Promise<void> {
    await untilStored(context, () => {
      const queued = journal.queued(sessionId);
      append(
        ...queued.map(
          ({ messageId }): SessionEventBody => ({ type: 'message_canceled', messageId, reason: STOPPED }),
        ),
      );
    });
    leaveParked('session', STOPPED);
    await endAgent(STOPPED, 0);
    if (read().status !== 'stopped')
      await untilStored(context, () => append({ type: 'session_stopped', reason: STOPPED }));
  }

  function leaveParked(by: string, reason: FailureReason): boolean {
    const before = parked;
    parked = undefined;
    before?.cancel(by, reason);
    return before !== undefined;
  }

  async function endAgent(reason: FailureReason, graceMs: number): Promise<void> {
    const current = turn;
    current?.cancel('session', reason);
    if (current !== undefined && graceMs > 0) await Promise.race([current.ended, sleep(graceMs)]);
    await slot.end(reason.message);
    await current?.ended;
  }

  return {
    setMode: controls.setMode,
    setModel: controls.setModel,
    setConfigOption: controls.setConfigOption,
    async start() {
      await slot.ready();
    },
    kick,
    get isSteerable() {
      return turn?.canceled === false;
    },
    steer(message) {
      turn?.steer(message);
    },
    async interrupt() {
      const current = turn;
      const agent = slot.current;
      if (current === undefined) return leaveParked('interrupt', INTERRUPTED);
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
    answer(requestId, given, by) {
      const waiting = turn ?? parked;
      if (waiting === undefined) throw notOpen(requestId, given.kind);
      waiting.answer(requestId, given, by);
    },
    resume: () => setPaused(false),
    async shutdown(graceMs) {
      ending = true;
      parked?.close();
      if (turn?.leave() === true) {
        const { ended } = turn;
        await slot.end(DAEMON_STOPPED.message);
        return ended;
      }
      const wasUp = slot.current !== undefined || turn !== undefined || read().status === 'starting';
      await endAgent(DAEMON_STOPPED, graceMs);
      if (wasUp)
        await untilStored(context, () => append({ type: 'session_stopped', reason: DAEMON_STOPPED }));
    },
  };
}
