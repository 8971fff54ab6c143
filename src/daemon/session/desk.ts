import { KaiwuError } from '../../core/errors.ts';
import type { QuestionAnswer, SessionEventBody } from '../../core/session.ts';
import type { Continuation } from '../journal/rows.ts';

/** Requests that may wait at once; an agent that asks more gets no more answers than a canceled one. */
const MAX_WAITING = 32;
/** Events that wait for the request that is shown. */
const MAX_HELD = 400;

/** What a person gave for an answer. */
export type Given =
  | { kind: 'permission'; optionId?: string }
  | { kind: 'question'; answer: QuestionAnswer; content?: Record<string, unknown> };

/** One thing that a person has to settle before the agent goes on: a permission or a question. */
export interface Ask {
  kind: Given['kind'];
  requestId: string;
  /** What it is about, one line. */
  title: string;
  asked: SessionEventBody;
  /** @throws invalid_input */
  read(given: Given): Settlement;
  canceled(): Settlement;
  /** Nobody answered within the limit. */
  expired(): Settlement;
}

export interface Settlement {
  event(by: string): SessionEventBody;
  /** Tells the agent that asked. */
  tell(): void;
  /** Tells one that was started again in the meantime. */
  continuation(by: string): Pick<Continuation, 'text' | 'grant'>;
}

/** What one turn asks of people. One at a time is put to them, because a session shows one. */
export interface Desk {
  /** @param signal cancels it: the agent takes it back, or is gone */
  put(ask: Ask, signal: AbortSignal): void;
  /** Events about what was settled at once; they wait while something else is shown. */
  note(events: SessionEventBody[]): void;
  /** @throws not_found | invalid_input */
  answer(requestId: string, given: Given, by: string): void;
  /** Something waits for a person. */
  readonly isOpen: boolean;
  /** It takes nothing more. */
  readonly isClosed: boolean;
  /** Cancels everything and takes nothing more. The events are the caller's to store. */
  close(by: string): SessionEventBody[];
  /** Forgets everything without a word and takes nothing more: it goes on under another daemon. */
  leave(): void;
}

export function createDesk(options: {
  append(events: SessionEventBody[]): void;
  /** How long a request waits for a person, milliseconds. */
  limitMs: number;
  /** Answers that were given before. */
  answered?: [requestId: string, key: string][];
  /** Something begins to wait for a person, or nothing does any more. */
  onOpen(isOpen: boolean): void;
}): Desk {
  const waiting: { ask: Ask; timer?: NodeJS.Timeout }[] = [];
  const answered = new Map(options.answered);
  let held: SessionEventBody[] = [];
  let closed = false;

  /** Puts the first one in the queue to people. */
  function present(): void {
    const first = waiting[0];
    if (first === undefined) return;
    const { ask } = first;
    options.append([ask.asked]);
    first.timer = setTimeout(() => {
      settle(ask, ask.expired(), toLateness(options.limitMs), [toNotice(ask, options.limitMs)]);
    }, options.limitMs);
    options.onOpen(true);
  }

  function settle(ask: Ask, settlement: Settlement, by: string, more: SessionEventBody[] = []): void {
    const at = waiting.findIndex((entry) => entry.ask === ask);
    if (at < 0) return;
    const [entry] = waiting.splice(at, 1);
    clearTimeout(entry?.timer);
    if (at === 0) options.append([settlement.event(by), ...more, ...takeHeld()]);
    settlement.tell();
    if (at > 0) return;
    options.onOpen(false);
    present();
  }

  function takeHeld(): SessionEventBody[] {
    const events = held;
    held = [];
    return events;
  }

  function clear(): Ask[] {
    closed = true;
    const open = waiting.splice(0);
    for (const { timer } of open) clearTimeout(timer);
    if (open.length > 0) options.onOpen(false);
    return open.map(({ ask }) => ask);
  }

  return {
    get isOpen() {
      return waiting.length > 0;
    },
    get isClosed() {
      return closed;
    },
    put(ask, signal) {
      if (closed || signal.aborted || waiting.length >= MAX_WAITING) return ask.canceled().tell();
      waiting.push({ ask });
      signal.addEventListener('abort', () => settle(ask, ask.canceled(), 'agent'), { once: true });
      if (waiting.length === 1) present();
    },
    note(events) {
      if (closed) return;
      if (waiting.length === 0) options.append(events);
      else if (held.length < MAX_HELD) held.push(...events);
    },
    answer(requestId, given, by) {
      const ask = waiting.find((entry) => entry.ask.requestId === requestId)?.ask;
      if (ask === undefined || ask.kind !== given.kind) {
        // The same answer again is what a caller sends who did not hear that the first one arrived.
        if (answered.has(requestId) && answered.get(requestId) === toKey(given)) return;
        throw notOpen(requestId, given.kind);
      }
      settle(ask, ask.read(given), by);
      answered.set(requestId, toKey(given));
    },
    close(by) {
      const [shown, ...others] = clear();
      for (const ask of others) ask.canceled().tell();
      if (shown === undefined) return takeHeld();
      const settlement = shown.canceled();
      settlement.tell();
      return [settlement.event(by), ...takeHeld()];
    },
    leave: () => void clear(),
  };
}

/** Tells two answers apart. */
export const toKey = (given: Given): string =>
  JSON.stringify(given.kind === 'permission' ? [given.optionId] : [given.answer, given.content ?? {}]);

const WHAT = { permission: 'permission request', question: 'question' };

export const notOpen = (requestId: string, kind: Given['kind']): KaiwuError =>
  new KaiwuError('not_found', `There is no open ${WHAT[kind]} ${requestId}.`, {
    hint: 'It was answered, or its turn has ended: read the session again.',
  });

export const toLateness = (limitMs: number): string => `nobody within ${limitMs / 1000} s`;

export const toNotice = ({ kind, title }: Ask, limitMs: number): SessionEventBody => ({
  type: 'notice',
  text:
    `Nobody answered the ${WHAT[kind]} ${JSON.stringify(title)} within ${limitMs / 1000} s, so it was ` +
    `${kind === 'permission' ? 'refused' : 'left open'}. Requests are answered in the inbox, on any device; ` +
    'send the message again to be asked again.',
});
