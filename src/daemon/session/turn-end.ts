import type { FailureReason, SessionEventBody, Usage } from '../../core/session.ts';
import type { Journal } from '../journal/journal.ts';
import { toReason } from './reason.ts';

const NOT_SAID: FailureReason = {
  code: 'agent_failed',
  message: 'The turn ended before the agent said whether this message reached it; it is not sent twice.',
};

/** The ends of a turn's message and of those that reached the agent inside it. Its own is the last. */
export function toTurnEnd(turn: {
  journal: Pick<Journal, 'steered' | 'steering'>;
  sessionId: string;
  messageId: string;
  result: { stopReason: string; usage?: Usage } | { error: unknown };
  canceled?: { reason?: FailureReason };
  usage?: Usage;
}): SessionEventBody[] {
  const { journal, sessionId, messageId, result, canceled } = turn;
  const end = toOutcome(result, canceled);
  const used = { ...turn.usage, ...('usage' in result ? result.usage : {}) };
  const usage = Object.keys(used).length === 0 ? {} : { usage: used };
  return [
    ...toUnknownEnds(journal, sessionId),
    ...journal
      .steered(sessionId)
      .map((message) => ({ ...end, messageId: message.messageId, steered: messageId })),
    { ...end, messageId, ...usage },
  ];
}

type TurnEnd = Extract<SessionEventBody, { type: 'turn_ended' }>;

function toOutcome(
  result: { stopReason: string } | { error: unknown },
  canceled: { reason?: FailureReason } | undefined,
): Omit<TurnEnd, 'messageId'> {
  const type = 'turn_ended';
  const stopReason = 'stopReason' in result ? { stopReason: result.stopReason } : {};
  if (canceled !== undefined) {
    return {
      type,
      outcome: 'canceled',
      ...stopReason,
      ...(canceled.reason ? { reason: canceled.reason } : {}),
    };
  }
  if ('error' in result) return { type, outcome: 'failed', reason: toReason(result.error) };
  return { type, outcome: result.stopReason === 'cancelled' ? 'canceled' : 'completed', ...stopReason };
}

/** Messages of which nobody knows whether they reached the agent. Nothing about the session changes with them. */
export const toUnknownEnds = (journal: Pick<Journal, 'steering'>, sessionId: string): SessionEventBody[] =>
  journal
    .steering(sessionId)
    .map(({ messageId }) => ({ type: 'message_canceled', messageId, reason: NOT_SAID }));
