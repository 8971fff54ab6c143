import {
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type FetchLike,
  OAuthError,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import type { ManagedSignIn, RunnableServer } from '../../core/managed/managed.ts';
import type { ConnectionDeps } from '../connection.ts';
import { toServerUrl, toShownAddress } from '../http/address.ts';
import { quote } from '../../core/quote.ts';
import { toOwnError } from '../http/explain.ts';
import { readAuthorities } from '../http/secrets.ts';
import { accountsOf, type Challenge } from './accounts.ts';
import { findClient } from './client.ts';
import { discover, type Discovered } from './discover.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createPending, type Pending } from './pending.ts';
import type { OAuthRecord, OAuthTokens } from './record.ts';
import { toSigned } from './refresh.ts';
import { signInNeeded } from './sign-in-needed.ts';

/** What signing in needs: the vault is the runtime's own, so that both see one set of tokens. */
export interface SignInOptions
  extends Required<Pick<ConnectionDeps, 'network' | 'vault' | 'now' | 'log' | 'version'>> {
  /** The server of a key, as it is configured now. */
  find(key: string): RunnableServer | undefined;
}

/** Signs in to servers by the authorization code grant with PKCE. Opens no browser: its caller shows the address. */
export function createSignIn(options: SignInOptions): ManagedSignIn {
  const { vault, now, find } = options;
  const accounts = accountsOf(vault);
  const pending = createPending(now);

  function findServer(key: string): RunnableServer & { url: URL } {
    const server = find(key);
    if (server === undefined)
      throw new KaiwuError('mcp_server_not_found', `There is no managed server ${key}.`);
    const { name, url, token } = server.config;
    if (url === undefined) {
      throw new KaiwuError(
        'unsupported',
        `The MCP server ${name} is a program, which has no sign-in of its own.`,
      );
    }
    if ((token ?? '').trim() !== '') {
      throw new KaiwuError(
        'conflict',
        `The MCP server ${name} has a \`token\`, which is used in place of a sign-in.`,
        {
          hint: 'Clear its token first.',
        },
      );
    }
    return { ...server, url: toServerUrl(url) };
  }

  async function withNetwork<T>(
    server: RunnableServer & { url: URL },
    work: (fetch: FetchLike) => Promise<T>,
  ): Promise<T> {
    const { fetch, close } = createGuardedFetch(server.url, options, await readAuthorities(server));
    return work(fetch).finally(close);
  }

  return {
    async begin(key, redirectUri) {
      const server = findServer(key);
      return withNetwork(server, async (fetch) => {
        const challenge = accounts.of(key).challenge ?? (await askForChallenge(server.url, fetch));
        const found = await discover(server.url, challenge, fetch);
        const known = await accounts.read(server);
        const scope = server.config.oauth?.scope ?? toScope(challenge, found);
        const client = await findClient(
          found,
          { clientId: server.config.oauth?.clientId, redirectUri, scope, known },
          fetch,
        );
        const record: OAuthRecord = {
          serverUrl: server.config.url ?? '',
          authorizationServer: found.authorizationServer,
          metadata: found.metadata,
          client,
          redirectUri,
          ...(found.resource === undefined ? {} : { resource: found.resource }),
        };
        // Who gives up and begins again is not registered a second time.
        if (known?.tokens === undefined) await accounts.write(key, record);
        const { authorizationUrl, codeVerifier } = await startAuthorization(found.authorizationServer, {
          metadata: found.metadata,
          clientInformation: client,
          redirectUrl: redirectUri,
          ...(scope === undefined ? {} : { scope }),
          ...(found.resource === undefined ? {} : { resource: found.resource }),
        });
        const state = pending.add({ key, record, codeVerifier });
        authorizationUrl.searchParams.set('state', state);
        return { authorizationUrl: authorizationUrl.href, state };
      });
    },

    async complete({ state, code, error, iss }) {
      const begun = pending.take(state);
      const server = begun === undefined ? undefined : find(begun.key);
      if (begun === undefined || server === undefined || server.config.url !== begun.record.serverUrl) {
        throw new KaiwuError('not_found', 'There is no sign-in with this state, or it is over.', {
          hint: 'Begin the sign-in again.',
        });
      }
      checkIssuer(begun, iss);
      if (error === 'access_denied') {
        throw new KaiwuError(
          'access_denied',
          `The sign-in to the MCP server ${server.config.name} was refused there.`,
        );
      }
      if (error !== undefined || code === undefined) {
        const why =
          error === undefined ? 'the sign-in came back without a code' : `it ended with ${quote(error)}`;
        throw signInNeeded(server, why, true);
      }
      const { key, record } = begun;
      const tokens = await withNetwork({ ...server, url: toServerUrl(record.serverUrl) }, (fetch) =>
        redeem(server, begun, { code, iss }, fetch),
      );
      await accounts.alone(key, () => accounts.write(key, toSigned(record, tokens, now())));
      delete accounts.of(key).challenge;
      accounts.of(key).refreshes = [];
      return { key };
    },

    async forget(key) {
      pending.forget(key);
      await accounts.alone(key, () => accounts.write(key, undefined));
    },
  };
}

/** A server tells of its sign-in when it is asked without one. */
async function askForChallenge(url: URL, fetchFn: FetchLike): Promise<Challenge> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'kaiwu', version: '1' },
  };
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  await response.body?.cancel();
  return extractWWWAuthenticateParams(response);
}

/** What was asked for when it refused, else all that it lists; and to stay signed in, where that is a scope of its own. */
function toScope(challenge: Challenge, { scopes, metadata }: Discovered): string | undefined {
  const wanted =
    challenge.scope ?? (scopes === undefined || scopes.length === 0 ? undefined : scopes.join(' '));
  const canStay = metadata.scopes_supported?.includes('offline_access') === true;
  if (wanted === undefined || !canStay || wanted.split(' ').includes('offline_access')) return wanted;
  return `${wanted} offline_access`;
}

/** An answer of another authorization server than the one that was asked is worth nothing, whatever it says. */
function checkIssuer({ record }: Pending, iss: string | undefined): void {
  const { issuer, authorization_response_iss_parameter_supported: isSupported } = record.metadata;
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: issuer,
      issParameterSupported: isSupported === true,
    });
  } catch {
    throw new KaiwuError(
      'access_denied',
      'The sign-in was answered by another authorization server than the one asked.',
      {
        hint: 'Begin the sign-in again; if it happens again, do not trust this server.',
      },
    );
  }
}

async function redeem(
  server: RunnableServer,
  { record, codeVerifier }: Pending,
  { code, iss }: { code: string; iss: string | undefined },
  fetchFn: FetchLike,
): Promise<OAuthTokens> {
  try {
    const tokens = await exchangeAuthorization(record.authorizationServer, {
      metadata: record.metadata as never,
      clientInformation: record.client,
      authorizationCode: code,
      codeVerifier,
      redirectUri: record.redirectUri,
      fetchFn,
      ...(iss === undefined ? {} : { iss }),
      ...(record.resource === undefined ? {} : { resource: record.resource }),
    });
    if (tokens.token_type.toLowerCase() !== 'bearer') {
      throw signInNeeded(
        server,
        `it gives tokens of the kind ${quote(tokens.token_type)}, which are not supported`,
        true,
      );
    }
    return tokens;
  } catch (error) {
    const own = toOwnError(error);
    if (own !== undefined) throw own;
    const why = error instanceof OAuthError ? quote(error.code) : 'its answer is not one of OAuth';
    throw signInNeeded(
      server,
      `${toShownAddress(new URL(record.authorizationServer))} refuses the code (${why})`,
      true,
    );
  }
}
