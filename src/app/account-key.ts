import { KaiwuError } from '../core/errors.ts';
import { makeIdentity, toRecipient } from '../local/identity-age.ts';
import type { App } from './app.ts';
import { identityOf, openFiles, type Target } from './connection.ts';

/** `here`: this machine can read the account's files. `missing`: another device has the key. `unsupported`: an older backend. */
export type KeyState = 'here' | 'made' | 'missing' | 'unsupported';

/**
 * The account's key after a sign-in: the first one makes it. It lies on this machine before the backend hears of its public
 * half, so no crash leaves files that nobody can read.
 */
export async function ensureAccountKey(app: App, target: Target, token: string): Promise<KeyState> {
  const files = await openFiles(app, target, token);
  const store = identityOf(app, target);
  const own = await store.recipient();
  let known: string | undefined;
  try {
    known = await files.accountRecipient();
  } catch (error) {
    if (error instanceof KaiwuError && error.code === 'not_found') return 'unsupported';
    throw error;
  }
  if (known !== undefined) return known === own ? 'here' : 'missing';
  if (own !== undefined) {
    await files.setAccountRecipient(own);
    return 'here';
  }
  const identity = await makeIdentity();
  await store.write(identity);
  try {
    await files.setAccountRecipient(await toRecipient(identity));
    return 'made';
  } catch (error) {
    // Another device was first; nothing was encrypted to this one.
    if (!(error instanceof KaiwuError && error.code === 'conflict')) throw error;
    await store.clear();
    return 'missing';
  }
}

/** Keeps a key that came from elsewhere, if it is the account's. @throws conflict */
export async function takeAccountKey(
  app: App,
  target: Target,
  token: string | undefined,
  identity: string,
): Promise<void> {
  const recipient = await toRecipient(identity);
  const known = await (await openFiles(app, target, token)).accountRecipient();
  if (known !== recipient) {
    throw new KaiwuError('conflict', 'This is a key, but not the one of this account.', {
      hint:
        known === undefined ? 'The account has none yet.' : 'It may be of another account, or an older one.',
    });
  }
  await identityOf(app, target).write(identity);
}

/** The account's key on this machine. @throws not_found with the ways to get it */
export async function requireAccountKey(app: App, target: Target): Promise<string> {
  const identity = await identityOf(app, target).read();
  if (identity !== undefined) return identity;
  throw new KaiwuError('not_found', 'This machine does not have the key of your files.', {
    hint: 'Type the recovery phrase: `kaiwu auth recovery restore`. Or sign in anew with a code that a device with the key approves: `kaiwu auth logout`, then `kaiwu auth login`.',
  });
}
