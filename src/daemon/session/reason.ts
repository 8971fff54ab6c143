import { toWireError } from '../../core/errors.ts';
import type { FailureReason } from '../../core/session.ts';
import { clip } from './bounded.ts';

/** What a transcript says of an error: its code, what happened, and what to do. */
export function toReason(error: unknown): FailureReason {
  const { code, hint, ...said } = toWireError(error);
  const message = clip(said.message);
  return { code, message: hint === undefined ? message : clip(`${message.replace(/[.\s]+$/, '')}. ${hint}`) };
}
