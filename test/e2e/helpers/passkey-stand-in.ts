import { createAuthenticator } from '../../backend/helpers/authenticator.ts';
import { PATHS, toHeaders } from '../../backend/helpers/passkeys.ts';
import type { Api } from './api.ts';

/** Adds a passkey as the app does, by an authenticator in software. @returns its id */
export async function addPasskey(api: Api): Promise<string> {
  // Passkeys belong to a name, never to an address.
  const origin = api.url.replace('127.0.0.1', 'localhost');
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { url } = await api.post('/v1/auth/app-link', {});
  const signedIn = await post('/v1/auth/app-link/redeem', { key: url!.split('#key=')[1] });
  const headers = toHeaders(signedIn, (await signedIn.json()) as { pageKey: string });
  const options = await (await post(PATHS.addOptions, {}, headers)).json();
  const response = createAuthenticator(origin).create(options as never);
  const added = await post(PATHS.add, { name: 'Laptop', response }, headers);
  return ((await added.json()) as { passkeyId: string }).passkeyId;
}
