import type { QuestionAnswer } from '../../core/session.ts';
import { isObject, type Json } from './json.ts';

/** What a person answered to a question of the agent. `content` belongs to `accept` alone. */
export interface QuestionOutcome {
  action: QuestionAnswer;
  content?: Record<string, unknown>;
}

/**
 * Answers `elicitation/create` as the protocol wants it. Only forms are put to people: an address that an agent wants
 * opened is declined.
 */
export async function answerQuestion(
  params: unknown,
  ask: (params: Json) => Promise<QuestionOutcome>,
): Promise<Json> {
  if (!isObject(params) || params.mode !== 'form') return { action: 'decline' };
  const { action, content } = await ask(params);
  if (action !== 'accept') return { action };
  const values = Object.entries(content ?? {}).filter(([, value]) => isAnswer(value));
  return { action, content: Object.fromEntries(values) };
}

const isAnswer = (value: unknown): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  Number.isFinite(value) ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
