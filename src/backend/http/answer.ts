import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Envelope } from '../../core/call.ts';
import { ERRORS, type ErrorCode, toWireError } from '../../core/errors.ts';

/** On every answer. The API serves data only: nothing may be loaded, framed or guessed from it. */
export const SECURITY_HEADERS: Record<string, string> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** HTTP status of an envelope. */
export function toStatus(envelope: Envelope): number {
  if (envelope.status === 'error') return ERRORS[envelope.error.code].http;
  return envelope.status === 'ok' ? 200 : 202;
}

/** Seconds that a client should wait, where an error says so by its kind. */
export function retryAfter(
  code: ErrorCode,
  details: Record<string, unknown> | undefined,
): string | undefined {
  if (code !== 'rate_limited' && code !== 'backend_unreachable') return undefined;
  return String(typeof details?.retryAfterSeconds === 'number' ? details.retryAfterSeconds : 1);
}

export function sendEnvelope(c: Context, envelope: Envelope): Response {
  if (envelope.status === 'error') {
    const wait = retryAfter(envelope.error.code, envelope.error.details);
    if (wait !== undefined) c.header('retry-after', wait);
    if (envelope.error.code === 'not_authenticated') c.header('www-authenticate', 'Bearer');
  }
  return c.json(envelope, toStatus(envelope) as ContentfulStatusCode);
}

/** The envelope of anything thrown. */
export const toErrorEnvelope = (error: unknown): Envelope & { status: 'error' } => ({
  status: 'error',
  error: toWireError(error),
});
