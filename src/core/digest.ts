import canonicalize from 'canonicalize';
import type { Runtime } from './ports/stores.ts';

/** Digest of an action and its input: SHA-256 over RFC 8785 JSON, so that key order and spelling of numbers do not count. */
export const toInputDigest = (runtime: Runtime, actionId: string, input: unknown): string =>
  toDigest(runtime, { actionId, input: input ?? {} });

/**
 * Hex SHA-256 over the RFC 8785 JSON of a value, behind the text `before`. Half of a surrogate pair counts as U+FFFD: that
 * form has no other place for it.
 */
export const toDigest = (runtime: Pick<Runtime, 'sha256'>, value: object, before = ''): string =>
  runtime.sha256(before + (canonicalize(toWellFormed(value)) ?? ''));

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return toWellFormedText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toWellFormed);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toWellFormedText(name), toWellFormed(item)]),
  );
}

/** A text that UTF-8 can carry. */
export const toWellFormedText = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
