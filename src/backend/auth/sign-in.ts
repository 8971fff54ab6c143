import type { Runtime } from '../../core/ports/stores.ts';
import { newToken, type RandomBytes } from '../secrets.ts';
import type { IdentityStore } from '../store/store.ts';

export interface SignedIn {
  /** The secret; it is in this answer only. */
  token: string;
  tokenId: string;
  deviceId: string;
}

/** Registers a device with its first token. */
export type SignIn = (deviceName: string) => Promise<SignedIn>;

export function createSignIn(options: {
  identity: Pick<IdentityStore, 'insertDevice' | 'insertToken'>;
  runtime: Pick<Runtime, 'newId' | 'sha256'>;
  randomBytes: RandomBytes;
}): SignIn {
  const { identity, runtime } = options;
  return async (deviceName) => {
    const token = newToken(options.randomBytes);
    const deviceId = runtime.newId('dev');
    const tokenId = runtime.newId('tok');
    await identity.insertDevice({ deviceId, name: deviceName });
    await identity.insertToken({
      tokenId,
      hash: runtime.sha256(token),
      kind: 'device',
      name: deviceName,
      scope: {},
      deviceId,
    });
    return { token, tokenId, deviceId };
  };
}
