import type { FetchLike } from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import type { ConnectionDeps } from '../connection.ts';
import { isNearHost, toShownAddress } from '../http/address.ts';
import { type BoundedFetch, createFetch } from '../http/create-fetch.ts';

const ANSWER_BYTES = 512 * 1024;
const CONNECT_MS = 10_000;
const HEAD_MS = 20_000;

/**
 * Refuses an address that a server names for its sign-in and that would make us reach into our own network: https to the
 * internet or to the server's own host, or plain http to that very host where it is this machine or a private one.
 * @throws access_denied
 */
export function checkSignInUrl(address: string | URL, server: URL): URL {
  if (!URL.canParse(String(address))) throw refused('which is no address', server);
  const url = new URL(address);
  const isSameHost = url.hostname === server.hostname;
  const isAllowed =
    url.protocol === 'https:'
      ? isSameHost || !isNearHost(url.hostname)
      : url.protocol === 'http:' && isSameHost && isNearHost(url.hostname);
  if (!isAllowed || url.username !== '' || url.password !== '') {
    throw refused(`${toShownAddress(url).slice(0, 300)}, which is not allowed`, server);
  }
  return url;
}

const refused = (what: string, server: URL): KaiwuError =>
  new KaiwuError(
    'access_denied',
    `The MCP server at ${toShownAddress(server)} wants to be signed in to at ${what}.`,
    { hint: 'Only https, or plain http to the same host of this machine or a private network, is.' },
  );

/** The network for all that belongs to signing in to a server. */
export function createGuardedFetch(
  server: URL,
  { network, version }: Pick<ConnectionDeps, 'network' | 'version'>,
  ca: string[] | undefined,
): BoundedFetch {
  const bounded = createFetch({
    network,
    version,
    peer: 'authorization server',
    connectMs: CONNECT_MS,
    headMs: HEAD_MS,
    maxBytes: ANSWER_BYTES,
    isSecret: true,
    ...(ca === undefined ? {} : { ca }),
  });
  const guarded: FetchLike = async (input, init) => bounded.fetch(checkSignInUrl(input, server), init);
  return { fetch: guarded, close: bounded.close };
}
