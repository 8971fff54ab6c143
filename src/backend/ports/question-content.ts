import { KaiwuError } from '../../core/errors.ts';
import type { Question, QuestionAnswer, QuestionField } from '../../core/session.ts';

/** Characters of one text in an answer: it travels in a frame with the others. */
const MAX_TEXT = 100_000;

const TYPES: Record<QuestionField['type'], { is(value: unknown): boolean; named: string }> = {
  text: { is: (value) => typeof value === 'string' && value.length <= MAX_TEXT, named: 'a text' },
  number: { is: Number.isFinite, named: 'a number' },
  integer: { is: Number.isSafeInteger, named: 'a whole number' },
  boolean: { is: (value) => typeof value === 'boolean', named: 'true or false' },
  choice: { is: (value) => typeof value === 'string', named: 'the id of one option' },
  choices: {
    is: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    named: 'a list of ids of options',
  },
};

/** Checks an answer against the question's form. @throws invalid_input naming every field that is wrong */
export function checkContent(
  question: Question,
  answer: QuestionAnswer,
  content: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  const given = Object.entries(content ?? {});
  if (answer !== 'accept') {
    if (given.length === 0) return undefined;
    throw wrong(question, [{ path: 'content', message: `goes with accept only, not with ${answer}` }]);
  }
  const issues = given
    .filter(([name]) => !question.fields.some((field) => field.name === name))
    .map(([name]) => ({ path: `content.${name}`, message: 'is no field of the question' }));
  for (const field of question.fields) {
    const message = whyWrong(field, content?.[field.name]);
    if (message !== undefined) issues.push({ path: `content.${field.name}`, message });
  }
  if (issues.length > 0) throw wrong(question, issues);
  return Object.fromEntries(given);
}

function whyWrong({ required, type, options }: QuestionField, value: unknown): string | undefined {
  if (value === undefined) return required ? 'is required' : undefined;
  const { is, named } = TYPES[type];
  if (!is(value)) return `must be ${named}`;
  if (options === undefined || (type !== 'choice' && type !== 'choices')) return undefined;
  const offered = options.map((option) => option.id);
  const chosen: unknown[] = Array.isArray(value) ? value : [value];
  const unknown = chosen.find((id) => typeof id === 'string' && !offered.includes(id)) as string | undefined;
  return unknown === undefined
    ? undefined
    : `offers no ${unknown.slice(0, 80)}; it offers ${offered.join(', ')}`;
}

function wrong(question: Question, issues: { path: string; message: string }[]): KaiwuError {
  const fields = question.fields.map(
    ({ name, type, required }) => `${name} (${type}${required ? '' : ', optional'})`,
  );
  return new KaiwuError(
    'invalid_input',
    `The question cannot be answered so: ${issues.map(({ path, message }) => `${path} ${message}`).join('; ')}.`,
    {
      hint: `Its fields: ${fields.join(', ') || 'none, it wants a yes or a no'}.`,
      details: { issues, fields: question.fields },
    },
  );
}
