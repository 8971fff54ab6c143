import type { NextStep } from '../../core/spec.ts';
import { shellQuote } from './shell-quote.ts';
import { fieldOf, isEmpty, isPlainObject, type Row } from './values.ts';

const FIELD = /\{([\w.|:]+)\}/g;
/** Characters of an id that stands where a name would: enough to be typed as a prefix. */
const SHORT_ID = 13;
const MARKS: Record<string, string> = { completed: '[x]', in_progress: '[>]', pending: '[ ]' };

/** The command that comes next, with its values quoted for a shell; undefined where there is none. */
export function nextStep(row: Row, next: NextStep | undefined, program: string): string | undefined {
  const by = next === undefined ? undefined : fieldOf(row, next.by);
  const template =
    typeof by === 'string' && Object.hasOwn(next!.commands, by) ? next!.commands[by] : undefined;
  if (template === undefined) return undefined;
  const parts = template.replaceAll(/ ?\[(.*?)\]/g, (_, part: string) => {
    const isGiven = [...part.matchAll(FIELD)].every(([, names]) => !isEmpty(firstOf(row, names as string)));
    return isGiven ? ` ${part}` : '';
  });
  return `${program} ${parts.replaceAll(FIELD, (_, names: string) => toWord(firstOf(row, names)))}`;
}

function toWord(value: unknown): string {
  if (typeof value === 'string') return shellQuote(value);
  if (!Array.isArray(value)) return shellQuote(value === undefined ? '' : JSON.stringify(value));
  const names = value.filter(isPlainObject).map(({ name }) => [String(name), '…']);
  return shellQuote(JSON.stringify(Object.fromEntries(names)));
}

/** An item of a list for people. `{mark:status}` is a box, ticked where the status is `completed`. */
export const toItemText = (item: Row, template: string, toText: (value: unknown) => string): string =>
  template.replaceAll(FIELD, (_, names: string) => {
    if (names.startsWith('mark:')) return MARKS[String(fieldOf(item, names.slice(5)))] ?? '[ ]';
    const name = names.split('|').find((candidate) => !isEmpty(fieldOf(item, candidate))) ?? '';
    const text = toText(fieldOf(item, name));
    return name.endsWith('Id') ? text.slice(0, SHORT_ID) : text;
  });

const firstOf = (row: Row, names: string): unknown =>
  names
    .split('|')
    .map((name) => fieldOf(row, name))
    .find((value) => !isEmpty(value));
