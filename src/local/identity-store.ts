import * as z from 'zod';
import type { ProfilePaths } from './home.ts';
import { toRecipient } from './identity-age.ts';
import type { Keyring } from './keyring.ts';
import { type CredentialMode, createSecretStore, type SecretPlace } from './secret-store.ts';
import { readStateFile, removeStateFile, writeStateFile } from './state-file.ts';

const secretSchema = z.looseObject({ identity: z.string().startsWith('AGE-SECRET-KEY-') });
const publicSchema = z.looseObject({
  recipient: z.string(),
  /** When its recovery phrase was shown first. */
  phraseShownAt: z.string().optional(),
});

/** The account's key on this machine: kept where the sign-in is, and longer than that. */
export interface IdentityStore {
  /** Undefined when this machine has no key. @throws state_damaged */
  read(): Promise<string | undefined>;
  /** Its public half, without asking the keyring. */
  recipient(): Promise<string | undefined>;
  write(identity: string): Promise<SecretPlace>;
  phraseShownAt(): Promise<string | undefined>;
  markPhraseShown(at: string): Promise<void>;
  /** Idempotent. */
  clear(): Promise<void>;
}

export function createIdentityStore(options: {
  paths: ProfilePaths;
  /** Asked when it is written. */
  mode(): Promise<CredentialMode>;
  keyring: Keyring;
  notice(line: string): void;
}): IdentityStore {
  const { paths } = options;
  const secret = createSecretStore({
    schema: secretSchema,
    file: paths.identity,
    marker: paths.identityStore,
    account: `${paths.folder}#files`,
    what: 'The key of your files',
    mode: options.mode,
    keyring: options.keyring,
    notice: options.notice,
  });
  const known = () => readStateFile(paths.recipient, publicSchema);

  return {
    read: async () => (await secret.read())?.identity,
    recipient: async () => (await known())?.recipient,
    async write(identity) {
      const recipient = await toRecipient(identity);
      const place = await secret.write({ identity });
      if ((await known())?.recipient !== recipient) await writeStateFile(paths.recipient, { recipient });
      return place;
    },
    phraseShownAt: async () => (await known())?.phraseShownAt,
    async markPhraseShown(at) {
      const now = await known();
      if (now !== undefined) await writeStateFile(paths.recipient, { ...now, phraseShownAt: at });
    },
    async clear() {
      await removeStateFile(paths.recipient);
      await secret.clear();
    },
  };
}
