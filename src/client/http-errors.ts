import { KaiwuError } from '../core/errors.ts';

/** Codes of OpenSSL and Node for a certificate whose issuer is not trusted here. */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_UNTRUSTED',
]);

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'its name cannot be resolved now',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

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
  const code = (error as { code?: unknown }).code;
  const name = typeof code === 'string' ? code : 'unknown error';
  if (UNTRUSTED.has(name)) {
    return unreachable(url, 'its certificate is from an unknown CA', {
      hint: 'Name the CA: `caFile` in the profile (`kaiwu server add NAME URL --ca-file PEM`), or NODE_EXTRA_CA_CERTS.',
      details: { url, cause: name },
    });
  }
  const hint = NEVER_SENT.has(name) ? START_HINT : TAKEN_HINT;
  return unreachable(url, REASONS[name] ?? name, { hint, details: { url, cause: name } });
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
