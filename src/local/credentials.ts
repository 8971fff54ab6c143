import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import type { ProfilePaths } from './home.ts';
import { type Keyring, KeyringUnavailable } from './keyring.ts';
import { readStateFile, removeStateFile, writeStateFile } from './state-file.ts';

const credentialsSchema = z.looseObject({
  token: z.string().min(1),
  /** Backend that gave the token; it is sent to no other. */
  url: z.string(),
  deviceId: z.string().optional(),
  serverId: z.string().optional(),
});
export type Credentials = z.output<typeof credentialsSchema>;

const markerSchema = z.looseObject({ store: z.enum(['keyring', 'file']) });
export type CredentialPlace = z.output<typeof markerSchema>['store'];

export const CREDENTIAL_MODES = ['auto', 'keyring', 'file'] as const;
/** Where new credentials go: `auto` is the keyring if it proves to work, else the file. */
export type CredentialMode = (typeof CREDENTIAL_MODES)[number];

/**
 * Credentials of one profile. A marker file records which store has them, and reading follows it alone, so the two stores
 * cannot disagree unseen. A store that fails is an error, never "signed out".
 */
export interface CredentialStore {
  /** Undefined when nobody signed in. @throws state_damaged when the store that has them cannot be read */
  read(): Promise<Credentials | undefined>;
  write(credentials: Credentials): Promise<CredentialPlace>;
  /** Forgets them. Idempotent. */
  clear(): Promise<void>;
  /** Which store has them, undefined for none. Does not ask the keyring. */
  place(): Promise<CredentialPlace | undefined>;
}

export function createCredentialStore(options: {
  paths: ProfilePaths;
  mode: CredentialMode;
  keyring: Keyring;
  /** Tells a person, on one line, where the secret lies when it is not in the keyring. */
  notice(line: string): void;
}): CredentialStore {
  const { paths, keyring } = options;
  // Names the home too: two homes on one machine share the keyring.
  const account = paths.folder;

  async function place(): Promise<CredentialPlace | undefined> {
    const marker = await readStateFile(paths.credentialStore, markerSchema);
    if (marker !== undefined) return marker.store;
    return (await readStateFile(paths.credentials, credentialsSchema)) === undefined ? undefined : 'file';
  }

  async function readKeyring(): Promise<Credentials | undefined> {
    const [secret] = await keyring.run([{ do: 'get', account }]).catch((error: unknown) => {
      throw unusable(error, 'The credentials are in the keyring, which cannot be used');
    });
    return secret === undefined ? undefined : parseSecret(secret);
  }

  async function writeKeyring(credentials: Credentials): Promise<void> {
    const secret = JSON.stringify(credentials);
    await keyring.run([{ do: 'probe' }, { do: 'set', account, secret }]);
  }

  /** Stores where the mode says, and answers where that was. */
  async function store(credentials: Credentials): Promise<CredentialPlace> {
    if (options.mode !== 'file') {
      try {
        await writeKeyring(credentials);
        return 'keyring';
      } catch (error) {
        const failure = unusable(error, 'The keyring cannot be used');
        if (options.mode === 'keyring') throw failure;
        const why = (error as KeyringUnavailable).message;
        options.notice(
          `The sign-in is kept in ${paths.credentials}, readable by you alone, and not in a keyring: ${why}.`,
        );
      }
    }
    await writeStateFile(paths.credentials, credentials);
    return 'file';
  }

  async function forget(where: CredentialPlace): Promise<void> {
    if (where === 'file') return removeStateFile(paths.credentials);
    await keyring.run([{ do: 'delete', account }]).catch((error: unknown) => {
      const { message } = unusable(error, 'The old credentials could not be removed from the keyring');
      options.notice(message);
    });
  }

  return {
    place,
    async read() {
      const where = await place();
      if (where === 'keyring') return readKeyring();
      return where && readStateFile(paths.credentials, credentialsSchema);
    },
    async write(credentials) {
      const before = await place();
      const now = await store(credentials);
      // The new store has them before the marker says so, and the old one keeps them until then.
      await writeStateFile(paths.credentialStore, { store: now });
      if (before !== undefined && before !== now) await forget(before);
      return now;
    },
    async clear() {
      const where = await place();
      if (where !== undefined) await forget(where);
      await removeStateFile(paths.credentialStore);
    },
  };
}

function parseSecret(secret: string): Credentials {
  try {
    return credentialsSchema.parse(JSON.parse(secret));
  } catch {
    // Without a cause: it would quote the secret.
    throw new KaiwuError('state_damaged', 'The keyring holds something under our name that is not ours.', {
      hint: 'Sign in again: `kaiwu auth login`.',
    });
  }
}

function unusable(error: unknown, what: string): KaiwuError {
  if (!(error instanceof KeyringUnavailable)) throw error;
  return new KaiwuError('state_damaged', `${what}: ${error.message}.`, {
    hint: 'Unlock the keyring and try again, or sign in again with KAIWU_CREDENTIAL_STORE=file set.',
  });
}
