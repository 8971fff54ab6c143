import { KaiwuError } from '../core/errors.ts';
import { toNetworkReason } from '../core/network-errors.ts';

/** The request cannot have reached anybody. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

const TAKEN_HINT =
  'A change may have been taken before the connection broke: look before you repeat it, or repeat it with the same idempotency key.';

const START_HINT = 'Start the backend with `kaiwu up`, or see which one is meant with `kaiwu server list`.';

/**
 * Turns a failed request into an error that names the backend and the way out. The library's own error is not kept as the
 * cause: it carries the request with its headers.
 */
export function toTransportError(error: unknown, url: string, aborted: boolean): KaiwuError {
  if (error instanceof KaiwuError) return error;
  if (aborted) return new KaiwuError('canceled', `The call to ${url} was canceled.`);
  const { code, reason, isUnknownAuthority } = toNetworkReason(error);
  const sent = NEVER_SENT.has(code) ? START_HINT : TAKEN_HINT;
  const hint = isUnknownAuthority
    ? 'Name the CA: `caFile` in the profile (`kaiwu server add NAME URL --ca-file PEM`), or NODE_EXTRA_CA_CERTS.'
    : sent;
  return unreachable(url, reason, { hint, details: { url, cause: code } });
}

/** The address answers, but not as a backend does. */
export function notABackend(url: string, status: number, contentType: string | undefined): KaiwuError {
  const what = contentType?.includes('html') === true ? 'a web page' : (contentType ?? 'nothing readable');
  return unreachable(url, `it answers with ${what} (HTTP ${status}) where the backend's API should be`, {
    hint: 'Check the address, its path prefix too: `kaiwu server list`.',
    details: { url, httpStatus: status },
  });
}

/** Followed nowhere: the token would go along. */
export function redirected(url: string, location: string | undefined): KaiwuError {
  const target = location === undefined ? 'another address' : originOf(location, url);
  return unreachable(url, `it redirects to ${target}, which is not followed`, {
    hint: `If that is the backend, use its address: \`kaiwu server add NAME ${target}\`.`,
    details: { url },
  });
}

const unreachable = (url: string, why: string, more: { hint: string; details: Record<string, unknown> }) =>
  new KaiwuError('backend_unreachable', `The backend at ${url} cannot be used: ${why}.`, more);

function originOf(location: string, base: string): string {
  try {
    return new URL(location, base).origin;
  } catch {
    return 'an address that cannot be read';
  }
}
