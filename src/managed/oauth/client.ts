import {
  type FetchLike,
  type OAuthClientMetadata,
  registerClient,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';
import { quote } from '../../core/quote.ts';
import { toOwnError } from '../http/explain.ts';
import type { Discovered } from './discover.ts';
import type { OAuthRecord } from './record.ts';

/** Who we are at an authorization server, and for which address of our own. */
export interface ClientWanted {
  /** Of the configuration. */
  clientId?: string | undefined;
  redirectUri: string;
  scope?: string | undefined;
  /** Of an earlier sign-in. */
  known?: OAuthRecord | undefined;
}

/**
 * The client of the configuration, the one that was registered before for the same address, or one that is registered now.
 * @throws unsupported when the authorization server registers nobody
 */
export async function findClient(
  { authorizationServer, metadata }: Discovered,
  { clientId, redirectUri, scope, known }: ClientWanted,
  fetchFn: FetchLike,
): Promise<OAuthRecord['client']> {
  if (clientId !== undefined && clientId !== '') return { client_id: clientId };
  const isKnown = known?.metadata.issuer === metadata.issuer && known.redirectUri === redirectUri;
  if (isKnown && known.client['registered'] === true) return known.client;
  const clientMetadata: OAuthClientMetadata = {
    client_name: 'Kaiwu',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isLoopback(new URL(redirectUri).hostname) ? 'native' : 'web',
  };
  if (metadata.registration_endpoint === undefined) throw registersNobody('it registers no clients');
  try {
    const given = await registerClient(authorizationServer, {
      metadata,
      clientMetadata,
      fetchFn,
      ...(scope === undefined ? {} : { scope }),
    });
    return { ...given, registered: true };
  } catch (error) {
    const own = toOwnError(error);
    if (own !== undefined) throw own;
    const said =
      error instanceof RegistrationRejectedError ? ` (HTTP ${error.status}, ${quote(error.body)})` : '';
    throw registersNobody(`it refuses to register this client${said}`);
  }
}

const registersNobody = (why: string): KaiwuError =>
  new KaiwuError('unsupported', `The authorization server does not know Kaiwu, and ${why}.`, {
    hint: 'Register a client there by hand, and set its id as `oauth.clientId` of the server.',
  });
