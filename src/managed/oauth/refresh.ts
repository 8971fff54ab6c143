import { OAuthError, OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client';
import { KaiwuError } from '../../core/errors.ts';
import type { RunnableServer } from '../../core/managed/managed.ts';
import type { ConnectionDeps } from '../connection.ts';
import { toServerUrl } from '../http/address.ts';
import { quote } from '../../core/quote.ts';
import { toOwnError, unavailable } from '../http/explain.ts';
import { accountsOf } from './accounts.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { OAuthRecord, OAuthTokens } from './record.ts';
import { signInNeeded } from './sign-in-needed.ts';

/** Most refreshes of one server in a minute. */
const MOST = 3;
const WINDOW_MS = 60_000;
/** Errors of a token endpoint that pass by themselves. */
const PASSING: string[] = [
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
];

const UNKNOWN_CLIENT: string[] = [OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient];

type Deps = Pick<ConnectionDeps, 'network' | 'version' | 'now' | 'log'> &
  Required<Pick<ConnectionDeps, 'vault'>>;

/**
 * A token in place of the one that was used: another one that is there by now, or a refreshed one. However many ask, one
 * refresh is made.
 * @throws mcp_sign_in_needed when only a person can help | mcp_server_unavailable when the authorization server cannot
 */
export function replaceToken(
  server: RunnableServer,
  used: string | undefined,
  deps: Deps,
  ca: string[] | undefined,
): Promise<string> {
  const accounts = accountsOf(deps.vault);
  return accounts.alone(server.key, async () => {
    const record = await accounts.read(server);
    const tokens = record?.tokens;
    if (tokens !== undefined && tokens.access_token !== used) return tokens.access_token;
    if (record === undefined || tokens === undefined) throw signInNeeded(server, 'nobody is signed in', true);
    if (tokens.refresh_token === undefined)
      throw signInNeeded(server, 'it no longer takes the sign-in', true);
    const now = deps.now().getTime();
    const account = accounts.of(server.key);
    account.refreshes = account.refreshes.filter((at) => now - at < WINDOW_MS);
    if (account.refreshes.length >= MOST) throw signInNeeded(server, 'it refuses each new token', true);
    account.refreshes.push(now);
    const next = toSigned(record, await refresh(server, { record, tokens }, deps, ca), deps.now());
    await accounts.write(server.key, next).catch((error: unknown) => {
      deps.log.error({ err: error, server: server.config.name }, 'refreshed tokens could not be stored');
    });
    return next.tokens.access_token;
  });
}

/** A record with tokens that were given now. */
export function toSigned(
  record: OAuthRecord,
  given: OAuthTokens & { expires_in?: unknown },
  now: Date,
): OAuthRecord & { tokens: OAuthTokens; issuedAt: number } {
  const { expires_in: seconds, ...tokens } = given;
  const { expiresAt: _, ...rest } = record;
  const at = now.getTime();
  const lifetime = typeof seconds === 'number' ? { expiresAt: at + seconds * 1000 } : {};
  return { ...rest, tokens, issuedAt: at, ...lifetime };
}

async function refresh(
  server: RunnableServer,
  { record, tokens }: { record: OAuthRecord; tokens: OAuthTokens },
  deps: Deps,
  ca: string[] | undefined,
): Promise<OAuthTokens> {
  const url = toServerUrl(record.serverUrl);
  const { fetch, close } = createGuardedFetch(url, deps, ca);
  try {
    return await refreshAuthorization(record.authorizationServer, {
      metadata: record.metadata as never,
      clientInformation: record.client,
      refreshToken: tokens.refresh_token!,
      ...(record.resource === undefined ? {} : { resource: record.resource }),
      fetchFn: fetch,
    });
  } catch (error) {
    const own = toOwnError(error);
    if (own !== undefined) throw own;
    if (!(error instanceof OAuthError)) {
      throw unavailable(
        new URL(record.authorizationServer),
        'its answer is not one of OAuth',
        undefined,
        'authorization server',
      );
    }
    if (PASSING.includes(error.code)) {
      throw unavailable(
        new URL(record.authorizationServer),
        `it answers with ${quote(error.code)}`,
        undefined,
        'authorization server',
      );
    }
    await forgetTokens(server, record, error.code, deps);
    throw signInNeeded(
      server,
      `the authorization server refuses to go on with it (${quote(error.code)})`,
      true,
    );
  } finally {
    close();
  }
}

/** What was taken back is not tried again. A client that is not known there any more is registered anew. */
async function forgetTokens(
  { key }: RunnableServer,
  record: OAuthRecord,
  code: string,
  { vault }: Deps,
): Promise<void> {
  const { tokens: _, expiresAt: __, issuedAt: ___, ...rest } = record;
  await accountsOf(vault).write(key, UNKNOWN_CLIENT.includes(code) ? undefined : rest);
}

export const isSignInNeeded = (error: unknown): boolean =>
  error instanceof KaiwuError && error.code === 'mcp_sign_in_needed';
