import { toWireError } from '../../core/errors.ts';
import type { FailureReason } from '../../core/session.ts';
import { clip } from './bounded.ts';

/** What a transcript says of an error: its code, what happened, and what to do. */
export function toReason(error: unknown): FailureReason {
  const { code, message, hint } = toWireError(error);
  return { code, message: clip(message), ...(hint === undefined ? {} : { hint: clip(hint) }) };
}
