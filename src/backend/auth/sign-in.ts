import type { Runtime } from '../../core/ports/stores.ts';
import { newToken, type RandomBytes } from '../secrets.ts';
import type { IdentityStore } from '../store/store.ts';

/** Days that a browser stays signed in. */
export const WEB_DAYS = 30;

export interface SignedIn {
  /** The secret; it is in this answer only. */
  token: string;
  tokenId: string;
  deviceId: string;
}

/** Registers a device, or a browser as one, with its first token. */
export type SignIn = (
  deviceName: string,
  kind?: 'device' | 'web',
  /** Passkey that it is made with, and ends with. */
  passkeyId?: string,
) => Promise<SignedIn>;

export function createSignIn(options: {
  identity: Pick<IdentityStore, 'insertDevice' | 'insertToken'>;
  runtime: Pick<Runtime, 'newId' | 'sha256' | 'now'>;
  randomBytes: RandomBytes;
}): SignIn {
  const { identity, runtime } = options;
  const inDays = (days: number) => new Date(runtime.now().getTime() + days * 86_400_000).toISOString();
  return async (deviceName, kind = 'device', passkeyId) => {
    const token = newToken(options.randomBytes);
    const deviceId = runtime.newId('dev');
    const tokenId = runtime.newId('tok');
    await identity.insertDevice({
      deviceId,
      name: deviceName,
      ...(passkeyId === undefined ? {} : { passkeyId }),
    });
    await identity.insertToken({
      tokenId,
      hash: runtime.sha256(token),
      kind,
      name: deviceName,
      scope: {},
      deviceId,
      ...(kind === 'web' ? { expiresAt: inDays(WEB_DAYS) } : {}),
    });
    return { token, tokenId, deviceId };
  };
}
