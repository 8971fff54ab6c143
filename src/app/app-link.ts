import type { AppLink } from '../client/auth-client.ts';
import { makeIdentity, sealText, toRecipient } from '../local/identity-age.ts';
import type { App } from './app.ts';
import { identityOf, openAuth, requireCredentials, type Target } from './connection.ts';

/** What every identity of age begins with; the link does without. */
const IDENTITY_MARK = 'AGE-SECRET-KEY-1';

/**
 * A link that opens the app signed in, by this machine's own sign-in. The key of the files goes along, sealed to a key that stands
 * in the link behind the #: the backend gets the one and never the other, and hands it out once.
 * @throws not_authenticated | permission_escalation_denied
 */
export async function makeAppLink(app: App, target: Target, signal?: AbortSignal): Promise<AppLink> {
  const { token } = await requireCredentials(app, target);
  const auth = await openAuth(app, target, token);
  const identity = await identityOf(app, target)
    .read()
    .catch(() => undefined);
  if (identity === undefined) return auth.appLink(undefined, signal);
  const opener = await makeIdentity();
  const sealed = await sealText(identity, await toRecipient(opener));
  const link = await auth.appLink(sealed, signal);
  return { ...link, url: `${link.url}&open=${opener.slice(IDENTITY_MARK.length).toLowerCase()}` };
}
