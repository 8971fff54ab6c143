import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import type { AppLink } from '../client/auth-client.ts';
import type { App } from './app.ts';
import { openAuth, requireCredentials, type Target } from './connection.ts';

/** A link that opens the app signed in, by this machine's own sign-in. @throws not_authenticated | permission_escalation_denied */
export async function makeAppLink(app: App, target: Target, signal?: AbortSignal): Promise<AppLink> {
  const { token } = await requireCredentials(app, target);
  const auth = await openAuth(app, target, token);
  return auth.appLink(signal);
}

/** Programs that open an address in this person's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Whether a browser took it. */
export function openInBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[platform()] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
