import { KaiwuError } from '../../core/errors.ts';
import { EVENT_LIMITS } from '../../core/link.ts';
import type {
  AgentOption,
  Question,
  QuestionAnswer,
  QuestionField,
  SessionEventBody,
} from '../../core/session.ts';
import { isObject, type Json, objects } from '../acp/json.ts';
import type { QuestionOutcome } from '../acp/questions.ts';
import { clip } from './bounded.ts';
import type { Ask, Settlement } from './desk.ts';

const MAX_OPTIONS = 200;
/** Most characters of one text in an answer. */
const MAX_TEXT = 64 * 1024;

/** An elicitation in form mode as a question. Its schema is flat; a field of an unknown shape is asked for as text. */
export function toQuestion(requestId: string, params: Json): Question {
  const schema = isObject(params.requestedSchema) ? params.requestedSchema : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const message = typeof params.message === 'string' ? params.message : 'The agent asks.';
  return {
    requestId,
    message: clip(message, EVENT_LIMITS.question - 100),
    fields: properties
      .filter(([name]) => name !== '' && name.length <= EVENT_LIMITS.name)
      .slice(0, EVENT_LIMITS.questionFields)
      .map(([name, shape]) => toField(name, isObject(shape) ? shape : {}, required.includes(name))),
  };
}

function toField(name: string, shape: Json, required: boolean): QuestionField {
  const items = isObject(shape.items) ? shape.items : {};
  const options = toOptions(shape.type === 'array' ? items : shape);
  return {
    name,
    ...(typeof shape.title === 'string' ? { title: shape.title.slice(0, EVENT_LIMITS.name) } : {}),
    ...(typeof shape.description === 'string'
      ? { description: shape.description.slice(0, EVENT_LIMITS.title) }
      : {}),
    type: toType(shape.type, options),
    required,
    ...(options.length === 0 ? {} : { options }),
  };
}

function toType(type: unknown, options: AgentOption[]): QuestionField['type'] {
  if (options.length > 0) return type === 'array' ? 'choices' : 'choice';
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text';
}

/** `enum` lists values alone, `oneOf` and `anyOf` values with titles. */
function toOptions({ enum: values, oneOf, anyOf }: Json): AgentOption[] {
  const bare = Array.isArray(values) ? values.map((value) => ({ const: value, title: value })) : [];
  return [...bare, ...objects(oneOf), ...objects(anyOf)]
    .slice(0, MAX_OPTIONS)
    .flatMap(({ const: id, title }) =>
      typeof id === 'string' && id.length <= EVENT_LIMITS.name
        ? [{ id, name: (typeof title === 'string' ? title : id).slice(0, EVENT_LIMITS.name) }]
        : [],
    );
}

/** A question as something that a person settles. */
export function toQuestionAsk(
  messageId: string,
  request: Question,
  tell: (outcome: QuestionOutcome) => void,
): Ask {
  const { requestId, message, fields } = request;
  const settled = (answer: QuestionAnswer, content?: Json): Settlement => ({
    event: (by): SessionEventBody => ({ type: 'question_answered', messageId, requestId, answer, by }),
    tell: () => tell({ action: answer, ...(content === undefined ? {} : { content }) }),
    continuation: () => ({ text: toContinuation(message, answer, content) }),
  });
  return {
    kind: 'question',
    requestId,
    title: message.slice(0, EVENT_LIMITS.title),
    asked: { type: 'question_asked', messageId, request },
    read(given) {
      if (given.kind !== 'question' || given.answer !== 'accept') {
        return settled(given.kind === 'question' ? given.answer : 'cancel');
      }
      return settled('accept', readContent(fields, given.content ?? {}));
    },
    canceled: () => settled('cancel'),
    expired: () => settled('cancel'),
  };
}

/** The values of a form, absent ones left out. @throws invalid_input naming the field */
function readContent(fields: QuestionField[], content: Json): Json {
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) {
    const known = fields.map(({ name }) => name).join(', ') || 'none';
    throw invalid(unknown, content[unknown], `is not one of the fields: ${known}`);
  }
  const values = fields.flatMap((field): [string, unknown][] => {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    if (value !== undefined && value !== null) {
      const wrong = whyNot(field, value);
      if (wrong !== undefined) throw invalid(field.name, value, wrong);
      return [[field.name, value]];
    }
    if (field.required) throw invalid(field.name, value, 'is required');
    return [];
  });
  return Object.fromEntries(values);
}

function whyNot({ type, options = [] }: QuestionField, value: unknown): string | undefined {
  const ids = options.map(({ id }) => id);
  const { fits, what } = FORMS[type];
  return fits(value, ids) ? undefined : `is not ${what(ids)}`;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_TEXT;

/** What the value of a field may be. */
const FORMS: Record<
  QuestionField['type'],
  { fits(value: unknown, ids: string[]): boolean; what(ids: string[]): string }
> = {
  text: { fits: isText, what: () => `a text of at most ${MAX_TEXT} characters` },
  number: { fits: Number.isFinite, what: () => 'a number' },
  integer: { fits: Number.isSafeInteger, what: () => 'a whole number' },
  boolean: { fits: (value) => typeof value === 'boolean', what: () => 'true or false' },
  choice: {
    fits: (value, ids) => ids.some((id) => id === value),
    what: (ids) => `one of ${ids.join(', ')}`,
  },
  choices: {
    fits: (value, ids) => Array.isArray(value) && value.every((one) => ids.some((id) => id === one)),
    what: (ids) => `a list of ${ids.join(', ')}`,
  },
};

function invalid(name: string, received: unknown, what: string): KaiwuError {
  const path = `content.${name.slice(0, EVENT_LIMITS.name)}`;
  const message = `${path} ${what}`;
  const shown = typeof received === 'string' ? received.slice(0, 200) : received;
  return new KaiwuError('invalid_input', `${message}.`, {
    details: { issues: [{ path, message, ...(shown === undefined ? {} : { received: shown }) }] },
  });
}

function toContinuation(message: string, answer: QuestionAnswer, content: Json | undefined): string {
  const asked = `The program that runs you was restarted while your question ${JSON.stringify(message)} waited for its answer.`;
  if (answer === 'accept') {
    return `${asked} The answer is ${JSON.stringify(content ?? {})}. Go on with your task from there.`;
  }
  const said = answer === 'decline' ? 'The person declined to answer it.' : 'It was not answered.';
  return `${asked} ${said} Go on without an answer.`;
}
