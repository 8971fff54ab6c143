import { KaiwuError } from '../../core/errors.ts';
import type { Passkey, PasskeysPort } from '../../core/ports/passkeys.ts';
import type { Revocations } from '../revocations.ts';
import type { PasskeyStore, StoredPasskey } from '../store/passkeys.ts';

/** What people read of a passkey. */
export function toPasskey(stored: StoredPasskey): Passkey {
  const {
    credentialId: _id,
    publicKey: _key,
    counter: _count,
    transports: _ways,
    sealedKey,
    ...told
  } = stored;
  return { ...told, opensFiles: sealedKey !== undefined };
}

export function createPasskeysPort(options: {
  passkeys: PasskeyStore;
  revocations: Revocations;
}): PasskeysPort {
  const { passkeys, revocations } = options;
  return {
    list: async () => (await passkeys.list()).map(toPasskey),

    async rename(passkeyId, name) {
      const renamed = await passkeys.rename(passkeyId, name);
      if (renamed === undefined) throw unknown(passkeyId);
      return toPasskey(renamed);
    },

    async revoke(passkeyId) {
      const revoked = await passkeys.revoke(passkeyId);
      if (revoked === undefined) throw unknown(passkeyId);
      for (const deviceId of revoked.deviceIds) revocations.announce({ deviceId });
      return { passkey: toPasskey(revoked.passkey), signedOut: revoked.deviceIds.length };
    },
  };
}

const unknown = (passkeyId: string) =>
  new KaiwuError('not_found', `No passkey ${JSON.stringify(passkeyId.slice(0, 80))} is known.`, {
    hint: '`kaiwu passkey list` lists them.',
  });
