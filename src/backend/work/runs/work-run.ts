import type { SessionControlPort } from '../../../core/ports/sessions.ts';
import type { RunStatus } from '../../../core/run.ts';
import { type FailureReason, isFinal, type Message, type Session } from '../../../core/session.ts';
import { toRepeatPrompt } from '../../prompts/index.ts';
import type { RunMessage, RunOutcome, StoredRun } from '../../store/run-store.ts';
import { sessionArchived } from '../../store/session-rows.ts';
import type { BackendStore } from '../../store/store.ts';
import { watch } from '../../watch.ts';
import type { Deliveries } from '../deliveries.ts';
import { toResult } from './result.ts';
import { openRunSession } from './run-session.ts';
import { toSpoken } from './spoken.ts';

/** How a run ended. */
export interface RunEnd extends RunOutcome {
  status: Exclude<RunStatus, 'queued' | 'running' | 'timed_out'>;
  /** Last message that it takes into account. */
  lastOrdinal?: number;
}

interface Seen {
  message?: Message;
  session: Session;
  lastOrdinal: number;
}

/**
 * Does the work of one running run, from wherever an earlier process left it: opens its session, says what is to be said and
 * reads what comes back. Every step can be done again without being done twice.
 * @returns how it ended @throws what went wrong; canceled when the signal aborts
 */
export async function workRun(
  run: StoredRun,
  options: {
    store: BackendStore;
    spawn: SessionControlPort['spawn'];
    deliver: Deliveries['deliver'];
  },
  signal: AbortSignal,
): Promise<RunEnd> {
  const { store, deliver } = options;
  const { runId, intent } = run;
  const sessionId = await openRunSession(run, options, signal);

  /** Says what the session has not been told yet. @returns the last message */
  async function sayAll(): Promise<RunMessage> {
    const messages = await store.runs.messages(runId);
    for (const { messageId, text } of messages) {
      signal.throwIfAborted();
      if ((await store.messages.get(messageId)) !== undefined) continue;
      const { archivedAt } = await store.sessions.get(sessionId);
      if (archivedAt !== undefined) throw sessionArchived(sessionId, archivedAt);
      await store.messages.insert({ sessionId, messageId, text, overrides: {} });
      void deliver(sessionId);
    }
    return messages.at(-1) as RunMessage;
  }

  /** Reads again at each change of the message, the run or the session, until `done`. */
  const look = (last: RunMessage, done: (seen: Seen) => boolean): Promise<Seen> =>
    watch(
      store.feed,
      {
        concerns: (entry) =>
          (entry.type === 'message.changed' && entry.messageId === last.messageId) ||
          (entry.type === 'run.changed' && entry.runId === runId) ||
          (entry.type === 'session.changed' && entry.sessionId === sessionId),
        async read() {
          const [message, session, lastOrdinal] = await Promise.all([
            store.messages.get(last.messageId),
            store.sessions.get(sessionId),
            store.runs.lastOrdinal(runId),
          ]);
          return { message, session, lastOrdinal };
        },
        done: (seen) => seen.lastOrdinal !== last.ordinal || done(seen),
      },
      Number.POSITIVE_INFINITY,
      signal,
    );

  /** What the answer to the last message makes of a run that is over with it. Undefined: it goes on. */
  async function judge(last: RunMessage, reply: string): Promise<RunEnd | undefined> {
    const outcome = toResult(intent, reply);
    const { resultProblem } = outcome;
    if (resultProblem !== undefined && last.kind !== 'repeat') {
      await store.runs.addMessage(runId, 'repeat', toRepeatPrompt(intent, resultProblem), last.ordinal);
      return undefined;
    }
    return { status: 'succeeded', ...outcome };
  }

  /** A voice agent goes on after each turn, until its session is at an end. */
  async function listen(last: RunMessage, reply: string | undefined): Promise<RunEnd | undefined> {
    const outcome = reply === undefined ? undefined : { result: { spoken: toSpoken(reply) } };
    await store.runs.setAnswered(runId, last.ordinal, outcome);
    const { session, lastOrdinal } = await look(last, (seen) => isOver(seen.session));
    return lastOrdinal === last.ordinal ? toSessionEnd(session) : undefined;
  }

  for (;;) {
    const last = await sayAll();
    const { message, lastOrdinal } = await look(
      last,
      (seen) => seen.message !== undefined && isFinal(seen.message.status),
    );
    if (lastOrdinal !== last.ordinal || message === undefined) continue;
    const goesOn = intent === 'voice_agent' && message.status !== 'failed';
    const end = goesOn
      ? await listen(last, message.reply)
      : message.status === 'completed'
        ? await judge(last, message.reply ?? '')
        : toTurnEnd(message);
    if (end !== undefined) return { ...end, lastOrdinal: last.ordinal };
  }
}

/** A turn that nobody canceled, but that could not be, is a failure. */
const toTurnEnd = ({ status, reason }: Message): RunEnd => ({
  status: status === 'canceled' && (reason?.code ?? 'canceled') === 'canceled' ? 'cancelled' : 'failed',
  reason: reason ?? { code: 'agent_failed', message: 'The turn of this run did not come to its end.' },
});

const isOver = ({ status, archivedAt }: Session): boolean =>
  status === 'stopped' || status === 'failed' || archivedAt !== undefined;

/** Somebody ended the session, or its agent or its daemon did. */
function toSessionEnd({ status, reason }: Session): RunEnd {
  const told: FailureReason = reason ?? { code: 'canceled', message: 'The session of this run was stopped.' };
  const wanted = status !== 'failed' && told.code === 'canceled';
  return { status: wanted ? 'cancelled' : 'failed', reason: told };
}
