import type { ServerConfig } from '../../core/managed/config.ts';
import type { OAuthVault } from '../../core/managed/managed.ts';
import type { ServerChange, StoredServer } from '../store/managed-store.ts';
import type { Book } from './book.ts';
import type { Sealer } from './seal.ts';
import { joinConfig, type SecretPart, splitConfig } from './secrets.ts';

/** Sealed values open for their own server and purpose alone. */
const secretsOf = (serverKey: string) => `secrets of ${serverKey}`;
const signInOf = (serverKey: string) => `sign-in of ${serverKey}`;

/** Opens and seals what servers keep secret. */
export interface Vault extends OAuthVault {
  /** Settings whole. `lost` where its secrets do not open any more; undefined where the settings themselves are damaged. */
  open(row: StoredServer): Promise<{ config: ServerConfig; lost: boolean } | undefined>;
  /** Settings as they are stored. @throws state_damaged */
  close(serverKey: string, config: ServerConfig): Promise<Stored>;
}

type Stored = Required<Pick<ServerChange, 'secretNames' | 'sealed'>> & {
  config: NonNullable<StoredServer['config']>;
};

export function createVault({ sealer, book }: { sealer: Sealer; book: Pick<Book, 'get' | 'update'> }): Vault {
  return {
    async open({ serverKey, config, sealed }) {
      if (config === undefined) return undefined;
      if (sealed === undefined) return { config, lost: false };
      const secret = (await sealer.open(sealed, secretsOf(serverKey))) as SecretPart | undefined;
      return secret === undefined
        ? { config, lost: true }
        : { config: joinConfig(config, secret), lost: false };
    },

    async close(serverKey, config) {
      const { shown, secret, names } = splitConfig(config);
      const sealed = names.length === 0 ? null : await sealer.seal(secret, secretsOf(serverKey));
      return { config: shown, secretNames: names, sealed };
    },

    async read(serverKey) {
      const signIn = book.get(serverKey)?.row.signIn;
      if (signIn === undefined) return undefined;
      return (await sealer.open(signIn, signInOf(serverKey))) as Record<string, unknown> | undefined;
    },

    async write(serverKey, record) {
      const signIn = record === undefined ? null : await sealer.seal(record, signInOf(serverKey));
      await book.update(serverKey, { signIn });
    },
  };
}
