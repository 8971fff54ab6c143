import canonicalize from 'canonicalize';
import type { Runtime } from './ports/stores.ts';

/** Digest of an action and its input: SHA-256 over RFC 8785 JSON, so that key order and spelling of numbers do not count. */
export const toInputDigest = (runtime: Pick<Runtime, 'sha256'>, actionId: string, input: unknown): string =>
  toDigest(runtime, { actionId, input: input ?? {} });

/** An input without its secret fields: a digest is kept, and what is short can be guessed from one. */
export function withoutFields(input: unknown, fields: readonly string[] = []): unknown {
  if (fields.length === 0 || typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !fields.includes(name)));
}

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

/** The approval that an idempotency key stands for, so that a call that was cut off finds what it had filed. */
export function toArtifactId(runtime: Runtime, tokenId: string, key: string): string {
  const hex = runtime.sha256(JSON.stringify([tokenId, key]));
  // A UUID of version 8: 122 bits of our own making.
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
