import type { ErrorObject } from 'ajv';
import type { ToolIssue } from '../core/managed/further-actions.ts';
import { toShortText, toVisibleText } from '../core/visible-text.ts';

/** Issues that are told, and characters of a server's own words in one. */
const MAX_ISSUES = 20;
const MAX_SAID = 200;

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Words of a schema in a sentence of ours. */
const say = (value: unknown): string =>
  toShortText(
    toVisibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), { singleLine: true }),
    MAX_SAID,
  );

const list = (values: unknown): string =>
  (Array.isArray(values) ? values : [values]).slice(0, 20).map(say).join(', ');

type Params = Record<string, unknown>;

/** How each keyword's refusal reads behind the field's name. */
const TEXTS: Record<string, (params: Params) => string> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => KINDS[String(name)] ?? say(name))
      .join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${list(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${say(allowedValue)}`,
  required: () => 'is required',
  dependentRequired: ({ property }) => `is required beside ${say(property)}`,
  additionalProperties: () => 'is not a field',
  unevaluatedProperties: () => 'is not a field',
  minLength: ({ limit }) => `must have at least ${say(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${say(limit)} characters`,
  minItems: ({ limit }) => `must have at least ${say(limit)} entries`,
  maxItems: ({ limit }) => `must have at most ${say(limit)} entries`,
  minimum: ({ limit }) => `must be at least ${say(limit)}`,
  maximum: ({ limit }) => `must be at most ${say(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${say(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${say(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${say(multipleOf)}`,
  pattern: ({ pattern }) => `must match ${say(pattern)}`,
  uniqueItems: () => 'must have no entry twice',
  not: () => 'has a form that is not taken',
};

/** Keywords that only say that something inside them was refused, which says it better. */
const WRAPPERS = new Set(['if', 'propertyNames', 'contains']);
const UNIONS = new Set(['anyOf', 'oneOf']);

/** Keywords whose refusal is about a field inside the value that was judged. */
const INNER: Record<string, string> = {
  required: 'missingProperty',
  dependentRequired: 'missingProperty',
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
};

/** What the library reports, for whoever sent the arguments. What was refused by each form of a union is told with the union. */
export function toToolIssues(errors: readonly ErrorObject[]): ToolIssue[] {
  const unions = errors.filter(({ keyword }) => UNIONS.has(keyword)).map(({ instancePath }) => instancePath);
  const isOfUnion = ({ keyword, instancePath }: ErrorObject) =>
    !UNIONS.has(keyword) &&
    unions.some((path) => instancePath === path || instancePath.startsWith(`${path}/`));
  const told = errors.filter((error) => !WRAPPERS.has(error.keyword) && !isOfUnion(error));
  return (told.length === 0 ? errors : told).slice(0, MAX_ISSUES).map((error) => {
    const issue = toIssue(error);
    if (!UNIONS.has(error.keyword)) return issue;
    const forms = errors.filter(
      (other) => isOfUnion(other) && other.instancePath.startsWith(error.instancePath),
    );
    const why = [
      ...new Set(forms.map(toIssue).map(({ path, message }) => `${path.join('.')} ${message}`.trim())),
    ];
    return {
      path: issue.path,
      message: `has none of the forms that fit${why.length === 0 ? '' : ` (${why.slice(0, 4).join('; ')})`}`,
    };
  });
}

function toIssue({ keyword, instancePath, params, message }: ErrorObject): ToolIssue {
  const path = instancePath.split('/').slice(1).map(toKey);
  const inner = INNER[keyword];
  return {
    path: inner === undefined ? path : [...path, String((params as Params)[inner])],
    message: TEXTS[keyword]?.(params as Params) ?? say(message ?? 'is not as its schema has it'),
  };
}

const toKey = (part: string): string | number => {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^(0|[1-9]\d{0,9})$/.test(name) ? Number(name) : name;
};
