import * as z from 'zod';
import type { ProfilePaths } from './home.ts';
import type { Keyring } from './keyring.ts';
import { type CredentialMode, createSecretStore, type SecretStore } from './secret-store.ts';

const credentialsSchema = z.looseObject({
  token: z.string().min(1),
  /** Backend that gave the token; it is sent to no other. */
  url: z.string(),
  deviceId: z.string().optional(),
  serverId: z.string().optional(),
});
export type Credentials = z.output<typeof credentialsSchema>;

export type { CredentialMode };

/** The sign-in of one profile. */
export type CredentialStore = SecretStore<Credentials>;

export const createCredentialStore = (options: {
  paths: ProfilePaths;
  mode: CredentialMode;
  keyring: Keyring;
  notice(line: string): void;
}): CredentialStore =>
  createSecretStore({
    schema: credentialsSchema,
    file: options.paths.credentials,
    marker: options.paths.credentialStore,
    account: options.paths.folder,
    what: 'The sign-in',
    mode: options.mode,
    keyring: options.keyring,
    notice: options.notice,
  });
