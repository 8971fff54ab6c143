import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import { toShownAddress } from '../http/address.ts';
import { quote } from '../../core/quote.ts';
import { toOwnError } from '../http/explain.ts';
import type { Challenge } from './accounts.ts';
import { checkSignInUrl } from './guarded-fetch.ts';

/** Where and how a server is signed in to. */
export interface Discovered {
  authorizationServer: string;
  metadata: AuthorizationServerMetadata;
  /** The resource that tokens are asked for, as the server writes it. */
  resource?: string;
  /** Scopes that the server lists. */
  scopes?: string[];
}

/**
 * Asks the server for its metadata as a protected resource, and the authorization server named there, else the server's own
 * origin, for its own.
 * @throws unsupported when there is no sign-in | access_denied for an address that is not allowed | mcp_server_unavailable
 */
export async function discover(server: URL, challenge: Challenge, fetch: FetchLike): Promise<Discovered> {
  const resource = await discoverOAuthProtectedResourceMetadata(
    server,
    challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl },
    fetch,
  ).catch((error: unknown) => {
    const own = toOwnError(error);
    if (own !== undefined) throw own;
    // A server of the older kind has none.
    return undefined;
  });
  if (resource !== undefined) {
    const requestedResource = resourceUrlFromServerUrl(server);
    if (!checkResourceAllowed({ requestedResource, configuredResource: resource.resource })) {
      throw wrong(server, `its metadata is that of another resource, ${quote(resource.resource)}`);
    }
  }
  const authorizationServer = resource?.authorization_servers?.[0] ?? new URL('/', server).href;
  checkSignInUrl(authorizationServer, server);
  const metadata = await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn: fetch }).catch(
    (error: unknown) => {
      throw toOwnError(error) ?? wrong(server, `the metadata of ${quote(authorizationServer)} is not valid`);
    },
  );
  if (metadata === undefined) {
    throw new KaiwuError(
      'unsupported',
      `The MCP server at ${toShownAddress(server)} offers no OAuth sign-in.`,
      {
        hint: 'Set its `token`, if it wants one.',
      },
    );
  }
  const endpoints = [
    metadata.authorization_endpoint,
    metadata.token_endpoint,
    metadata.registration_endpoint,
  ];
  for (const endpoint of endpoints) if (endpoint !== undefined) checkSignInUrl(endpoint, server);
  return {
    authorizationServer,
    metadata,
    ...(resource === undefined ? {} : { resource: resource.resource }),
    ...(resource?.scopes_supported === undefined ? {} : { scopes: resource.scopes_supported }),
  };
}

const wrong = (server: URL, why: string): KaiwuError =>
  new KaiwuError(
    'unsupported',
    `The MCP server at ${toShownAddress(server)} cannot be signed in to: ${why}.`,
  );
