import { toShortText, toVisibleText } from '../visible-text.ts';

/** Characters of one remark of a schema in words. */
const MAX_WORDS = 300;

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
  null: 'null',
};

export const toKindWord = (type: string): string => KINDS[type] ?? type;

/** A stranger's text or value as part of a sentence. What is long is cut before it is looked at, too. */
export const toBrief = (value: unknown, limit = MAX_WORDS): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return toShortText(toVisibleText(toShortText(text, limit), { singleLine: true }), limit);
};

export const toOneOf = (values: readonly unknown[]): string => {
  if (values.length === 0) return 'no value fits';
  const shown = values.slice(0, 50).map((value) => toBrief(JSON.stringify(value), 80));
  const more = values.length > shown.length ? ` and ${values.length - shown.length} more` : '';
  return values.length === 1 ? `always ${shown.join()}` : `one of ${shown.join(', ')}${more}`;
};

/** What hosts' shapes cannot say, by keyword, in words. A keyword that is not here bounds nothing. */
export const REMARKS: ReadonlyMap<string, (value: unknown) => string | undefined> = new Map([
  ['format', (value) => `format ${toBrief(value, 60)}`],
  ['pattern', (value) => `matches ${toBrief(value)}`],
  ['multipleOf', (value) => `a multiple of ${toBrief(value, 40)}`],
  [
    'exclusiveMinimum',
    (value) => (value === true ? 'its minimum excluded' : `more than ${toBrief(value, 40)}`),
  ],
  [
    'exclusiveMaximum',
    (value) => (value === true ? 'its maximum excluded' : `less than ${toBrief(value, 40)}`),
  ],
  ['uniqueItems', (value) => (value === true ? 'no entry twice' : undefined)],
  ['minProperties', (value) => `at least ${toBrief(value, 40)} fields`],
  ['maxProperties', (value) => `at most ${toBrief(value, 40)} fields`],
  ['contentEncoding', (value) => `encoded as ${toBrief(value, 60)}`],
  ['contentMediaType', (value) => `holds ${toBrief(value, 60)}`],
  ['contains', (value) => `has an entry like ${toBrief(value)}`],
  ['propertyNames', (value) => `names of fields: ${toBrief(value)}`],
  ['patternProperties', (value) => `fields by pattern: ${toBrief(value)}`],
  ['dependentRequired', (value) => `fields that need others: ${toBrief(value)}`],
  ['dependentSchemas', (value) => `fields that change others: ${toBrief(value)}`],
  ['dependencies', (value) => `fields that need others: ${toBrief(value)}`],
  ['not', (value) => `not ${toBrief(value)}`],
  ['if', (value) => `if ${toBrief(value)}`],
  ['then', (value) => `then ${toBrief(value)}`],
  ['else', (value) => `else ${toBrief(value)}`],
  ['examples', (value) => `for example ${toBrief(value, 200)}`],
  ['deprecated', (value) => (value === true ? 'deprecated' : undefined)],
] as [string, (value: unknown) => string | undefined][]);

/** Keywords by which an object may have fields that are not listed. */
export const OPENING: readonly string[] = [
  'patternProperties',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
];
