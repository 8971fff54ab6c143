import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { SessionControlPort } from '../../core/ports/sessions.ts';
import type { PermissionOption, PermissionRequest } from '../../core/session.ts';
import type { SessionStore } from '../store/store.ts';
import type { AskMachine } from './ask-machine.ts';
import { checkContent } from './question-content.ts';
import { isAgent } from './escalation.ts';

type Answer = Parameters<SessionControlPort['answerPermission']>[1];

/** Kinds of option that a decision may take, best first. `allow` never becomes a lasting one. */
const KINDS: Record<NonNullable<Answer['decision']>, PermissionOption['kind'][]> = {
  allow: ['allow_once'],
  allow_always: ['allow_always'],
  deny: ['reject_once', 'reject_always'],
};

/** Answers to what an agent waits for. An agent gives none. */
export function createAnswers(options: {
  sessions: SessionStore;
  ask: AskMachine;
}): Pick<SessionControlPort, 'answerPermission' | 'answerQuestion'> {
  const { sessions, ask } = options;
  return {
    async answerPermission(sessionId, answer, caller) {
      refuseAgent(caller, 'a permission request');
      const session = await sessions.get(sessionId);
      const what = 'permission request';
      const open = requireOpen(sessionId, what, session.permission, answer.requestId, (it) => it.title);
      const optionId = chooseOption(open, answer);
      const params = { sessionId, requestId: open.requestId, by: caller.client };
      await ask(
        session.machineId,
        'session.answer',
        optionId === undefined ? params : { ...params, optionId },
        caller,
      );
      return sessions.get(sessionId);
    },

    async answerQuestion(sessionId, { requestId, answer, content }, caller) {
      refuseAgent(caller, 'a question that is for a person');
      const session = await sessions.get(sessionId);
      const open = requireOpen(sessionId, 'question', session.question, requestId, (it) => it.message);
      const values = checkContent(open, answer, content);
      await ask(
        session.machineId,
        'session.answer_question',
        {
          sessionId,
          requestId: open.requestId,
          answer,
          ...(values === undefined ? {} : { content: values }),
          by: caller.client,
        },
        caller,
      );
      return sessions.get(sessionId);
    },
  };
}

function refuseAgent(caller: Caller, what: string): void {
  if (!isAgent(caller)) return;
  throw new KaiwuError('permission_escalation_denied', `An agent cannot answer ${what}.`, {
    hint: 'A person can, from the app or the CLI.',
  });
}

function requireOpen<T extends { requestId: string }>(
  sessionId: string,
  what: string,
  open: T | undefined,
  requestId: string | undefined,
  toTitle: (open: T) => string,
): T {
  if (open === undefined) {
    throw new KaiwuError('conflict', `Session ${sessionId} has no open ${what}.`, {
      hint: 'It was answered or its turn has ended; the transcript says which.',
    });
  }
  if (requestId !== undefined && requestId !== open.requestId) {
    throw new KaiwuError('conflict', `The ${what} ${requestId} of session ${sessionId} is not open.`, {
      hint: `The open one is ${open.requestId}: ${toTitle(open).slice(0, 200)}.`,
      details: { openRequestId: open.requestId },
    });
  }
  return open;
}

/** Undefined refuses without an option of the agent's own. */
function chooseOption(open: PermissionRequest, answer: Answer): string | undefined {
  const offered = open.options.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
  const wrong = (path: string, message: string) =>
    new KaiwuError('invalid_input', `${path} ${message}.`, {
      hint: `Options: ${offered.map((option) => `${option.optionId} (${option.kind})`).join(', ') || 'none'}.`,
      details: { issues: [{ path, message }], options: offered },
    });
  if (answer.optionId !== undefined) {
    if (offered.some((option) => option.optionId === answer.optionId)) return answer.optionId;
    throw wrong('optionId', `is none of the request's options: ${answer.optionId}`);
  }
  if (answer.decision === undefined) throw wrong('decision', 'is needed where no optionId is given');
  for (const kind of KINDS[answer.decision]) {
    const option = offered.find((each) => each.kind === kind);
    if (option !== undefined) return option.optionId;
  }
  if (answer.decision === 'deny') return undefined;
  throw wrong('decision', `${answer.decision} is none of the request's options`);
}
