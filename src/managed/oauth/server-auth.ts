import { type AuthProvider, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { RunnableServer } from '../../core/managed/managed.ts';
import type { ConnectionDeps } from '../connection.ts';
import { toStaticToken } from '../http/secrets.ts';
import { accountsOf, type Challenge } from './accounts.ts';
import { isSignInNeeded, replaceToken } from './refresh.ts';
import { signInNeeded } from './sign-in-needed.ts';

/** A token that is refused so soon after it was given is not worth another one, milliseconds. */
const FRESH_MS = 60_000;
/** How long nothing is asked of a server that refused for good, milliseconds. A new sign-in ends it. */
const HOLD_MS = 60_000;
/** A token is refreshed so long before its end, milliseconds. */
const EARLY_MS = 30_000;

export interface ServerAuth {
  /** For the SDK's transports. Opens no browser: who has to sign in is told so. */
  provider: AuthProvider;
  /** Hears each answer and the authorization that was sent for it. */
  note(response: Response, authorization: string | null): void;
}

/**
 * Lets a connection in: by the token of the configuration, else by the tokens of a sign-in, refreshed when they end. A server
 * that refuses even a fresh token is left alone for a while.
 */
export function createServerAuth(
  server: RunnableServer,
  deps: ConnectionDeps,
  ca: string[] | undefined,
): ServerAuth {
  const { vault } = deps;
  const own = toStaticToken(server);
  const sent = new WeakMap<Response, string | undefined>();
  const isSet =
    own !== undefined ||
    Object.keys(server.config.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
  if (isSet || vault === undefined) {
    const why = isSet ? 'it refuses the token (HTTP 401)' : 'it wants a token (HTTP 401)';
    return {
      provider: {
        token: () => Promise.resolve(own),
        onUnauthorized: () => Promise.reject(signInNeeded(server, why, vault !== undefined && !isSet)),
      },
      note: () => undefined,
    };
  }
  const accounts = accountsOf(vault);
  const account = accounts.of(server.key);
  const now = () => deps.now().getTime();

  async function isFresh(token: string | undefined): Promise<boolean> {
    const record = await accounts.read(server);
    return record?.tokens?.access_token === token && now() - (record?.issuedAt ?? 0) < FRESH_MS;
  }
  const hold = (token: string | undefined): void => {
    account.refused = { token, at: now() };
  };

  return {
    provider: {
      async token() {
        const record = await accounts.read(server);
        const token = record?.tokens?.access_token;
        const { refused } = account;
        if (refused !== undefined && refused.token === token && now() - refused.at < HOLD_MS) {
          throw signInNeeded(
            server,
            token === undefined ? 'nobody is signed in' : 'it refuses the sign-in',
            true,
          );
        }
        const isEnding = record?.expiresAt !== undefined && record.expiresAt - now() < EARLY_MS;
        const canRefresh = record?.tokens?.refresh_token !== undefined;
        return isEnding && canRefresh ? replaceToken(server, token, { ...deps, vault }, ca) : token;
      },
      async onUnauthorized({ response }) {
        const used = sent.get(response);
        if (used !== undefined && (await isFresh(used))) {
          hold(used);
          throw signInNeeded(server, 'it refuses the token that was just given for it', true);
        }
        try {
          await replaceToken(server, used, { ...deps, vault }, ca);
        } catch (error) {
          if (isSignInNeeded(error)) hold((await accounts.read(server))?.tokens?.access_token);
          throw error;
        }
      },
    },
    note(response, authorization) {
      const token = authorization?.replace(/^bearer /i, '');
      sent.set(response, token);
      if (response.status !== 401 && response.status !== 403) return;
      const challenge: Challenge & { error?: string } = extractWWWAuthenticateParams(response);
      if (response.status === 403 && challenge.error !== 'insufficient_scope') return;
      account.challenge = challenge;
      if (response.status === 401 && token !== undefined) {
        void isFresh(token).then((fresh) => (fresh ? hold(token) : undefined));
      }
    },
  };
}
