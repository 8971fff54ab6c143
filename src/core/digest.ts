import canonicalize from 'canonicalize';
import type { Runtime } from './ports/stores.ts';

/** Digest of an action and its input: SHA-256 over RFC 8785 JSON, so that key order and spelling of numbers do not count. */
export function toInputDigest(runtime: Runtime, actionId: string, input: unknown): string {
  return runtime.sha256(canonicalize({ actionId, input: input ?? {} }) ?? '');
}
