import {
  InsufficientScopeError,
  SdkError,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import { toNetworkReason } from '../../core/network-errors.ts';
import { quote } from '../../core/quote.ts';
import { toShownAddress } from './address.ts';

/** Who is at an address. */
export type Peer = 'MCP server' | 'authorization server' | 'service';

export const unavailable = (url: URL, why: string, hint?: string, peer: Peer = 'MCP server'): KaiwuError =>
  new KaiwuError(
    'mcp_server_unavailable',
    `The ${peer} at ${toShownAddress(url)} cannot be used: ${why}.`,
    hint === undefined ? {} : { hint },
  );

export const tooLarge = (url: URL, maxBytes: number): KaiwuError =>
  new KaiwuError(
    'payload_too_large',
    `${toShownAddress(url)} sent more than ${maxBytes / 1024 / 1024} MiB in one message.`,
    { hint: 'Ask for less, for instance for fewer lines or a smaller page.' },
  );

/** The error of Node is not kept: it carries the request with its headers. */
export function toConnectionError(error: unknown, url: URL, peer: Peer): Error {
  if (error instanceof KaiwuError) return error;
  const { code, reason, isUnknownAuthority } = toNetworkReason(error);
  const hint = isUnknownAuthority
    ? 'Name the CA: set `caFile` of the server to its PEM file, or NODE_EXTRA_CA_CERTS.'
    : undefined;
  return unavailable(url, code.startsWith('HPE_') ? 'it does not speak HTTP' : reason, hint, peer);
}

/** A redirect that leaves the origin is not followed: token and headers would go along. */
export function refuseRedirect(url: URL, location: string, peer: Peer): KaiwuError {
  const target = URL.canParse(location, url.href) ? toShownAddress(new URL(location, url)) : 'no address';
  const why = `it redirects to ${target}, which is not followed`;
  return unavailable(url, why, 'If that is the server, use its address as the `url`.', peer);
}

/** The first of ours among an error and its causes: the SDK wraps what a transport throws while it negotiates. */
export function toOwnError(error: unknown): KaiwuError | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    if (at instanceof KaiwuError) return at;
    at = at.cause;
  }
  return undefined;
}

/** The status that a refused request was answered with. */
export const toStatus = (error: unknown): number | undefined =>
  error instanceof SdkHttpError ? error.data.status : undefined;

/** What the SDK's transports throw, in our words. */
export function explainHttp(error: unknown, url: URL): Error {
  const own = toOwnError(error);
  if (own !== undefined) return own;
  if (error instanceof InsufficientScopeError) {
    return letsNobodyIn(
      url,
      `the sign-in does not go far enough, it wants the scope ${quote(error.requiredScope ?? '')}`,
    );
  }
  if (error instanceof UnauthorizedError || toStatus(error) === 401) {
    return letsNobodyIn(url, 'it refuses the sign-in');
  }
  if (error instanceof SdkHttpError) {
    const { status, text } = error.data as { status: number; text?: unknown };
    return unavailable(url, reasonOf(status, typeof text === 'string' ? text : ''), hintOf(status));
  }
  if (error instanceof SdkError) return unavailable(url, 'its answer is not one of MCP');
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError')) {
    return unavailable(url, 'its answer is not a message of MCP');
  }
  if (error instanceof Error && error.name === 'AbortError') return error;
  return unavailable(
    url,
    `the connection failed (${quote(error instanceof Error ? error.message : String(error))})`,
  );
}

const letsNobodyIn = (url: URL, why: string): KaiwuError =>
  new KaiwuError('mcp_sign_in_needed', `The MCP server at ${toShownAddress(url)} needs a sign-in: ${why}.`, {
    hint: 'Sign in to it in Settings > MCP servers, or set its `token`.',
  });

function reasonOf(status: number, text: string): string {
  if (status >= 300 && status < 400)
    return `it redirects (HTTP ${status}) to another address, which is not followed`;
  const said = text === '' || text.trimStart().startsWith('<') ? '' : `, saying ${quote(text)}`;
  if (status === 403) return `it refuses access (HTTP 403)${said}`;
  return `it answers with HTTP ${status}${said}`;
}

function hintOf(status: number): string | undefined {
  if (status === 403) return 'Check its token and headers, and what they allow.';
  if (status === 404 || status === 405) return 'Check the path of its `url`; most servers want /mcp or /sse.';
  return undefined;
}
