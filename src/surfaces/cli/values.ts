import { toVisibleText } from '../../core/visible-text.ts';
import { shellQuote } from './shell-quote.ts';

export type Row = Record<string, unknown>;

/** RFC 3339, as every time of an output is. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Shows a time as `2026-11-30 18:49:51` in the person's zone. */
export type TimeFormat = (rfc3339: string) => string;

/** @param timeZone IANA name, known to this system */
export function createTimeFormat(timeZone: string): TimeFormat {
  const two = '2-digit';
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  return (text) => {
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) return text;
    const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
    return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
  };
}

/** Whether a field holds a time, by its name: `at`, `createdAt`, `machineOfflineSince`. */
export const isTimeField = (field: string): boolean => /(^|\.)at$|(At|Since)$/.test(field);

/** A program with its arguments, as it is typed. */
const isCommandField = (field: string): boolean => /(^|\.)(command|args)$/.test(field);

/** A value for people. What could fool a reader is made visible. */
export function toText(value: unknown, field: string, time: TimeFormat): string {
  if (isEmpty(value)) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    if (isCommandField(field)) return toVisibleText(value.map((word) => shellQuote(String(word))).join(' '));
    return value.map((item) => toText(item, field, time)).join(', ');
  }
  if (Array.isArray(value) && value.every(isNamed)) {
    return value.map(({ id, name }) => toVisibleText(toNamed(id, name))).join(', ');
  }
  if (typeof value !== 'string') return toVisibleText(JSON.stringify(value));
  return isTimeField(field) && TIME.test(value) ? time(value) : toVisibleText(value);
}

/** One of several choices: its id is what is typed, its name what it means. */
const isNamed = (value: unknown): value is { id?: unknown; name: string } =>
  isPlainObject(value) && typeof value.name === 'string' && ['string', 'undefined'].includes(typeof value.id);

const toNamed = (id: unknown, name: string): string =>
  typeof id !== 'string' || id === name ? name : `${id} (${name})`;

/** The value of a field, dotted for one inside another. */
export function fieldOf(row: Row, field: string): unknown {
  if (Object.hasOwn(row, field)) return row[field];
  return field
    .split('.')
    .reduce<unknown>(
      (value, key) => (isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      row,
    );
}

export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

export const isPlainObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `sessionId` reads `session id`. Names may be a stranger's too. */
export const toLabel = (field: string): string =>
  toOneLine(toVisibleText(field)).replaceAll(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);

/** Line breaks made visible. */
export const toOneLine = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');
