import type { FailureReason, SessionEventBody } from '../../core/session.ts';
import type { Journal } from '../journal/journal.ts';
import type { StoredMessage, StoredSession } from '../journal/rows.ts';
import type { SessionContext } from './context.ts';
import { type Ask, type Given, notOpen, type Settlement, toKey, toLateness, toNotice } from './desk.ts';
import { toPermissionAsk } from './permissions.ts';
import { toQuestionAsk } from './questions.ts';
import { canGoOn } from './turn-asks.ts';
import { toTurnEnd } from './turn-end.ts';
import { storeSoon, untilStored } from './until-stored.ts';

/**
 * A turn that waited for a person when its daemon ended. It waits on without an agent; the answer starts the agent again,
 * which is told of it.
 */
export interface ParkedTurn {
  readonly message: StoredMessage;
  /** The agent can be told. */
  readonly isAnswered: boolean;
  /** @throws not_found | invalid_input */
  answer(requestId: string, given: Given, by: string): void;
  /** Ends the turn, and the session with it: there is no agent. */
  cancel(by: string, reason: FailureReason): void;
  /** Forgets it; the journal keeps it. */
  close(): void;
}

/** Whether a turn of a daemon that is gone can go on in this one. */
export const isParked = (session: StoredSession, message: StoredMessage | undefined): boolean =>
  message !== undefined &&
  (session.continuation !== undefined ||
    (session.status === 'waiting' && canGoOn(session.features) && openAsk(session, message) !== undefined));

/** What the session shows to people. */
function openAsk({ permission, question }: StoredSession, { messageId }: StoredMessage): Ask | undefined {
  if (permission !== undefined) return toPermissionAsk(messageId, permission, () => {});
  return question === undefined ? undefined : toQuestionAsk(messageId, question, () => {});
}

export function findParked(
  context: SessionContext,
  sessionId: string,
  /** Hears that it was answered. */
  onAnswered: () => void,
): ParkedTurn | undefined {
  const { journal, limits } = context;
  const session = journal.session(sessionId);
  const message = journal.running(sessionId);
  if (session === undefined || message === undefined || !isParked(session, message)) return undefined;
  const { messageId } = message;
  const ask = openAsk(session, message);
  const append = (events: SessionEventBody[]) => void journal.append(sessionId, events);
  let isAnswered = session.continuation !== undefined;
  let answered = session.continuation?.answered;
  let isOver = false;
  const onError = (error: unknown) =>
    context.log.error({ sessionId, error }, 'a request that nobody answered could not be ended');

  function record(
    { requestId }: Ask,
    settlement: Settlement,
    by: string,
    more: SessionEventBody[] = [],
  ): void {
    append([settlement.event(by), ...more]);
    const said = settlement.continuation(by);
    journal.setContinuation(sessionId, { messageId, requestId, answered, ...said });
  }

  function goOn(): void {
    isAnswered = true;
    clearTimeout(timer);
    onAnswered();
  }

  async function expire(): Promise<void> {
    if (ask === undefined) return;
    const { permissionMs } = limits;
    await untilStored(context, () => {
      if (isOver || isAnswered) return;
      record(ask, ask.expired(), toLateness(permissionMs), [toNotice(ask, permissionMs)]);
    });
    if (!isOver && !isAnswered) goOn();
  }

  const askedAt = Date.parse(session.permission?.askedAt ?? session.question?.askedAt ?? '');
  const waited = Number.isNaN(askedAt) ? 0 : context.runtime.now().getTime() - askedAt;
  const leftMs = Math.min(Math.max(limits.permissionMs - waited, 0), limits.permissionMs);
  const timer = isAnswered ? undefined : setTimeout(() => void expire().catch(onError), leftMs);

  return {
    message,
    get isAnswered() {
      return isAnswered;
    },
    answer(requestId, given, by) {
      const known = session.continuation?.requestId ?? ask?.requestId;
      if (requestId === known && isAnswered && answered === toKey(given)) return;
      if (isAnswered || ask === undefined || ask.requestId !== requestId || ask.kind !== given.kind) {
        throw notOpen(requestId, given.kind);
      }
      const settlement = ask.read(given);
      answered = toKey(given);
      journal.transaction(() => record(ask, settlement, by));
      goOn();
    },
    cancel(by, reason) {
      isOver = true;
      clearTimeout(timer);
      const ends = endParked(journal, sessionId, messageId, reason);
      const settled = isAnswered || ask === undefined ? [] : [ask.canceled().event(by)];
      storeSoon(context, () => {
        append([...settled, ...ends, { type: 'session_stopped', reason }]);
        journal.setContinuation(sessionId, undefined);
      });
    },
    close() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

const endParked = (
  journal: Journal,
  sessionId: string,
  messageId: string,
  reason: FailureReason,
): SessionEventBody[] =>
  toTurnEnd({
    journal,
    sessionId,
    messageId,
    result: { stopReason: 'cancelled' },
    canceled: { reason },
  });
