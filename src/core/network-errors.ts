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
  EPROTO: 'it does not speak TLS as asked, or not at all',
};

/** Why a connection came to nothing, as a part of a sentence about the other side. */
export interface NetworkReason {
  /** The code of Node or OpenSSL. */
  code: string;
  reason: string;
  isUnknownAuthority: boolean;
}

/** Reads what Node threw. The error itself is not to be kept: it may carry the request with its headers. */
export function toNetworkReason(error: unknown): NetworkReason {
  const { code: found } = error as { code?: unknown };
  const code = typeof found === 'string' ? found : 'unknown error';
  const isUnknownAuthority = UNTRUSTED.has(code);
  const reason = isUnknownAuthority ? 'its certificate is from an unknown CA' : (REASONS[code] ?? code);
  return { code, reason, isUnknownAuthority };
}
