import type { RawBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';

const EXCERPT_LENGTH = 200;
/** Databases refuse very long patterns. */
const QUERY_MAX_LENGTH = 1_000;

/** Text as it is shown in excerpts: one form for what looks the same, and no U+0000, which ends a text in SQLite. */
const toPlain = (text: string): string => text.normalize('NFC').replaceAll('\0', ' ');

/**
 * Text without case, for comparing. It has the length of its plain text, so that a place in one is a place in the
 * other: a letter whose lower case is longer stays as it is.
 */
export function fold(text: string): string {
  const plain = toPlain(text);
  const lower = plain.toLowerCase();
  // A final sigma depends on its neighbours; alone, each letter folds the same way everywhere.
  if (lower.length === plain.length && !lower.includes('ς')) return lower;
  return Array.from(plain, (char) => {
    const one = char.toLowerCase();
    return one.length === char.length ? one.replace('ς', 'σ') : char;
  }).join('');
}

/** Whether a folded column contains the text, with `%` and `_` meaning themselves. @throws invalid_input */
export function contains(column: string, query: string): RawBuilder<SqlBool> {
  if (query.length > QUERY_MAX_LENGTH) {
    const message = `query has ${query.length} characters; at most ${QUERY_MAX_LENGTH} can be searched for`;
    throw new KaiwuError('invalid_input', message, {
      hint: 'Search for a shorter piece of the text.',
      details: { issues: [{ path: 'query', message, received: query.length }] },
    });
  }
  const pattern = `%${fold(query).replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape '\\'`;
}

/** The text around the first match, at most 200 characters, cut marked by an ellipsis. */
export function excerptOf(text: string, query: string): string {
  const plain = toPlain(text);
  if (plain.length <= EXCERPT_LENGTH) return plain;
  const match = Math.max(0, fold(plain).indexOf(fold(query)));
  const room = EXCERPT_LENGTH - 2;
  const before = Math.max(0, Math.floor((room - query.length) / 2));
  const wanted = Math.min(Math.max(0, match - before), plain.length - room);
  const start = splits(plain, wanted) ? wanted + 1 : wanted;
  const full = Math.min(plain.length, start + room);
  const end = splits(plain, full) ? full - 1 : full;
  return `${start > 0 ? '…' : ''}${plain.slice(start, end)}${end < plain.length ? '…' : ''}`;
}

/** Whether a cut there would split a character in two. */
const splits = (text: string, at: number): boolean =>
  at > 0 && /^[\udc00-\udfff]/.test(text.slice(at, at + 1));
