import type { AppLink } from '../client/auth-client.ts';
import type { App } from './app.ts';
import { openAuth, requireCredentials, type Target } from './connection.ts';

/** A link that opens the app signed in, by this machine's own sign-in. @throws not_authenticated | permission_escalation_denied */
export async function makeAppLink(app: App, target: Target, signal?: AbortSignal): Promise<AppLink> {
  const { token } = await requireCredentials(app, target);
  const auth = await openAuth(app, target, token);
  return auth.appLink(signal);
}
