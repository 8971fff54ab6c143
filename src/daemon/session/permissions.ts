import { KaiwuError } from '../../core/errors.ts';
import type {
  PermissionMode,
  PermissionOption,
  PermissionRequest,
  SessionEventBody,
} from '../../core/session.ts';
import type { PermissionOutcome } from '../acp/connection.ts';
import { allows, judge, optionFor } from './policy.ts';

/** Requests that may wait at once; an agent that asks more is refused. */
const MAX_WAITING = 32;

/** The permission requests of one turn. One at a time is put to people, because a session shows one. */
export interface PermissionDesk {
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionOutcome>;
  /** @throws not_found | invalid_input */
  answer(requestId: string, optionId: string | undefined, by: string): void;
  /** Answers everything `cancelled` and takes nothing more. The events are the caller's to store. */
  close(by: string): SessionEventBody[];
}

export interface PermissionQuestion {
  title: string;
  kind: string;
  options: PermissionOption[];
}

interface Waiting extends PermissionQuestion {
  requestId: string;
  settle(outcome: PermissionOutcome): void;
  timer?: NodeJS.Timeout;
}

const CANCELLED: PermissionOutcome = { outcome: { outcome: 'cancelled' } };
const selected = (optionId: string): PermissionOutcome => ({ outcome: { outcome: 'selected', optionId } });

export function createPermissionDesk(options: {
  messageId: string;
  mode(): PermissionMode;
  append(events: SessionEventBody[]): void;
  newId(): string;
  /** How long a request waits for a person before it is refused. */
  limitMs: number;
  /** Hears of each request that was allowed. */
  onAllowed(kind: string): void;
}): PermissionDesk {
  const { messageId } = options;
  const waiting: Waiting[] = [];
  const answered = new Map<string, string | undefined>();
  let closed = false;

  const requested = ({ requestId, title, options: choices }: Waiting): SessionEventBody => ({
    type: 'permission_requested',
    messageId,
    request: { requestId, title, options: choices } satisfies PermissionRequest,
  });
  const resolved = (
    question: Waiting,
    option: PermissionOption | undefined,
    by: string,
  ): SessionEventBody => ({
    type: 'permission_resolved',
    messageId,
    requestId: question.requestId,
    ...(option === undefined ? {} : { optionId: option.optionId }),
    outcome: option === undefined ? 'canceled' : allows(option) ? 'allowed' : 'refused',
    by,
  });

  /** Puts the first one in the queue to people. */
  function present(): void {
    const question = waiting[0];
    if (question === undefined) return;
    options.append([requested(question)]);
    question.timer = setTimeout(() => {
      resolve(question, optionFor('refuse', question.options), `nobody within ${options.limitMs / 1000} s`);
    }, options.limitMs);
  }

  function resolve(question: Waiting, option: PermissionOption | undefined, by: string): void {
    const at = waiting.indexOf(question);
    if (at < 0) return;
    waiting.splice(at, 1);
    clearTimeout(question.timer);
    if (at === 0) options.append([resolved(question, option, by)]);
    answered.set(question.requestId, option?.optionId);
    if (option !== undefined && allows(option)) options.onAllowed(question.kind);
    question.settle(option === undefined ? CANCELLED : selected(option.optionId));
    if (at === 0) present();
  }

  return {
    ask(question, signal) {
      if (closed || waiting.length >= MAX_WAITING) return Promise.resolve(CANCELLED);
      const mode = options.mode();
      const verdict = judge(mode, question.kind);
      if (verdict !== 'ask') {
        const option = optionFor(verdict, question.options);
        const entry: Waiting = { ...question, requestId: options.newId(), settle: () => {} };
        if (waiting.length === 0) options.append([requested(entry), resolved(entry, option, `mode:${mode}`)]);
        if (option !== undefined && allows(option)) options.onAllowed(question.kind);
        return Promise.resolve(option === undefined ? CANCELLED : selected(option.optionId));
      }
      return new Promise((settle) => {
        const entry: Waiting = { ...question, requestId: options.newId(), settle };
        waiting.push(entry);
        signal.addEventListener('abort', () => resolve(entry, undefined, 'agent'), { once: true });
        if (waiting.length === 1) present();
      });
    },
    answer(requestId, optionId, by) {
      const question = waiting.find((one) => one.requestId === requestId);
      if (question === undefined) {
        // The same answer again is what a caller sends who did not hear that the first one arrived.
        if (answered.has(requestId) && answered.get(requestId) === optionId) return;
        throw new KaiwuError('not_found', `There is no open permission request ${requestId}.`, {
          hint: 'It was answered, or its turn has ended: read the session again.',
        });
      }
      const option = question.options.find((one) => one.optionId === optionId);
      if (optionId !== undefined && option === undefined) {
        const known = question.options.map((one) => one.optionId).join(', ');
        const message = `optionId ${JSON.stringify(optionId)} is not one of ${known}`;
        throw new KaiwuError('invalid_input', message, {
          details: { issues: [{ path: 'optionId', message, received: optionId }] },
        });
      }
      resolve(question, option, by);
    },
    close(by) {
      closed = true;
      const open = waiting.splice(0);
      for (const question of open) {
        clearTimeout(question.timer);
        question.settle(CANCELLED);
      }
      return open.slice(0, 1).map((shown) => resolved(shown, undefined, by));
    },
  };
}
