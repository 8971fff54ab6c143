import type { AuthClient } from '../client/auth-client.ts';
import { toBaseUrl } from '../client/base-url.ts';
import type { FileClient } from '../client/file-client.ts';
import type { HttpOptions } from '../client/http.ts';
import type { BackendClient } from '../core/client.ts';
import { KaiwuError } from '../core/errors.ts';
import { type Config, type Profile, readConfig } from '../local/config.ts';
import {
  type CredentialMode,
  type CredentialStore,
  type Credentials,
  createCredentialStore,
} from '../local/credentials.ts';
import type { ProfilePaths } from '../local/home.ts';
import { createIdentityStore, type IdentityStore } from '../local/identity-store.ts';
import { createKeyring } from '../local/keyring.ts';
import { CREDENTIAL_MODES } from '../local/secret-store.ts';
import { readTextFile } from '../local/state-file.ts';
import type { App } from './app.ts';
import { KEYRING_COMMAND } from './keyring-command.ts';
import { proxyOf } from './proxy-settings.ts';

/** Flags that choose a backend. */
export interface ServerFlags {
  server?: string;
  serverUrl?: string;
  webappUrl?: string;
}

/** A backend, and where its credentials and its daemon's state lie. */
export interface Target {
  /** Name of the profile; made from the address where the address alone was given. */
  profile: string;
  url: string;
  /** Flags with which another process of ours chooses the same. */
  selector: string[];
  webappUrl?: string;
  caFile?: string;
  paths: ProfilePaths;
  machineId?: string;
}

/**
 * The backend that flags, environment and active profile name, in this order.
 * @param readEnv false for `mcp serve`: a host's environment must not redirect a sign-in
 * @throws not_found for a profile that does not exist; not_authenticated when nothing names a backend
 */
export async function resolveTarget(app: App, flags: ServerFlags, readEnv: boolean): Promise<Target> {
  const config = await readConfig(app.paths);
  const chosen = flags.server !== undefined || flags.serverUrl !== undefined;
  const env = readEnv && !chosen ? { server: app.env.KAIWU_SERVER, serverUrl: app.env.KAIWU_SERVER_URL } : {};
  const server = flags.server ?? (env.server || undefined);
  const serverUrl = flags.serverUrl ?? (env.serverUrl || undefined);
  if (server !== undefined && serverUrl !== undefined) {
    throw new KaiwuError(
      'invalid_input',
      'A profile and an address are both given; one of them chooses the backend.',
      {
        hint: 'Leave out --server (KAIWU_SERVER) or --server-url (KAIWU_SERVER_URL).',
      },
    );
  }
  const found =
    serverUrl === undefined
      ? byName(config, server ?? config?.activeProfile)
      : byUrl(app, config, toBaseUrl(serverUrl));
  const { name, profile } = found;
  return {
    profile: name,
    url: toBaseUrl(profile.url),
    selector: config?.profiles[name] === undefined ? ['--server-url', profile.url] : ['--server', name],
    ...optional('webappUrl', flags.webappUrl ?? profile.webappUrl),
    ...optional('caFile', profile.caFile),
    ...optional('machineId', config?.machineId),
    paths: app.paths.profile(name),
  };
}

function byName(config: Config | undefined, name: string | undefined): { name: string; profile: Profile } {
  if (name === undefined) {
    throw new KaiwuError('not_authenticated', 'No backend is chosen on this machine yet.', {
      hint: 'Start one here with `kaiwu up`, or sign in to one with `kaiwu auth login --server-url URL`.',
    });
  }
  const profile = config?.profiles[name];
  if (profile !== undefined) return { name, profile };
  const names = Object.keys(config?.profiles ?? {});
  throw new KaiwuError('not_found', `There is no profile ${JSON.stringify(name.slice(0, 60))}.`, {
    hint: names.length === 0 ? 'Add one: `kaiwu server add NAME URL`.' : `Profiles: ${names.join(', ')}.`,
  });
}

function byUrl(app: App, config: Config | undefined, url: string): { name: string; profile: Profile } {
  const known = Object.entries(config?.profiles ?? {}).find(([, profile]) => profile.url === url);
  if (known !== undefined) return { name: known[0], profile: known[1] };
  return { name: `url-${app.runtime.sha256(url).slice(0, 12)}`, profile: { url } };
}

/** What requests to a target need beside a token. */
export async function httpOptionsOf(app: App, target: Target): Promise<Omit<HttpOptions, 'token'>> {
  const ca = target.caFile === undefined ? undefined : await readCa(target.caFile);
  return { url: target.url, version: app.version, proxy: proxyOf(app.env), ...optional('ca', ca) };
}

async function readCa(file: string): Promise<string> {
  const text = await readTextFile(file, { own: false });
  if (text !== undefined) return text;
  throw new KaiwuError('file_not_found', `The profile's caFile ${file} does not exist.`, {
    hint: 'Put the PEM file there, or change the profile: `kaiwu server add NAME URL --ca-file PEM`.',
  });
}

export const credentialsOf = (app: App, target: Target): CredentialStore =>
  createCredentialStore({ ...secretPlaceOf(app, target), mode: toMode(app.env.KAIWU_CREDENTIAL_STORE) });

/** The account's key, as far as this machine has it. It goes where the sign-in went. */
export const identityOf = (app: App, target: Target): IdentityStore =>
  createIdentityStore({
    ...secretPlaceOf(app, target),
    mode: async () => (await credentialsOf(app, target).place()) ?? toMode(app.env.KAIWU_CREDENTIAL_STORE),
  });

const secretPlaceOf = (app: App, target: Target) => ({
  paths: target.paths,
  keyring: createKeyring([...app.command, KEYRING_COMMAND]),
  notice: (line: string) => void process.stderr.write(`${line}\n`),
});

function toMode(value: string | undefined): CredentialMode {
  if (!value) return 'auto';
  const mode = CREDENTIAL_MODES.find((known) => known === value);
  if (mode !== undefined) return mode;
  throw new KaiwuError('invalid_input', `KAIWU_CREDENTIAL_STORE is ${JSON.stringify(value.slice(0, 40))}.`, {
    hint: `It takes ${CREDENTIAL_MODES.join(', ')}.`,
  });
}

/** Credentials that are good for the target. @throws not_authenticated when there are none, or none for its address */
export async function requireCredentials(app: App, target: Target): Promise<Credentials> {
  const credentials = await credentialsOf(app, target).read();
  const hint = `Sign in with: ${app.channel} auth login --server-url ${target.url}`;
  if (credentials === undefined) {
    throw new KaiwuError('not_authenticated', `Nobody is signed in to ${target.url} on this machine.`, {
      hint,
    });
  }
  if (credentials.url !== target.url) {
    const message = `The sign-in of profile ${target.profile} is for ${credentials.url}, but the profile now names ${target.url}.`;
    throw new KaiwuError('not_authenticated', message, { hint });
  }
  return credentials;
}

/** A client of the target that is signed in. @throws not_authenticated | state_damaged */
export async function openBackend(app: App, target: Target): Promise<BackendClient> {
  const { token } = await requireCredentials(app, target);
  // Loaded when needed: a host waits for the start of `mcp serve`, which needs no HTTP yet.
  const { createBackendClient } = await import('../client/backend-client.ts');
  return createBackendClient({
    ...(await httpOptionsOf(app, target)),
    token,
    context: optional('machineId', target.machineId),
    random: Math.random,
  });
}

/** For signing in and out; without a token where none is given. */
export async function openAuth(app: App, target: Target, token?: string): Promise<AuthClient> {
  const { createAuthClient } = await import('../client/auth-client.ts');
  return createAuthClient({ ...(await httpOptionsOf(app, target)), ...optional('token', token) });
}

/** For files and the account's key. @throws not_authenticated */
export async function openFiles(app: App, target: Target, token?: string): Promise<FileClient> {
  const { createFileClient } = await import('../client/file-client.ts');
  const own = token ?? (await requireCredentials(app, target)).token;
  return createFileClient({ ...(await httpOptionsOf(app, target)), token: own });
}

/** `{[key]: value}`, or nothing for undefined. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
