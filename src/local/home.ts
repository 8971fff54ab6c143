import { userInfo } from 'node:os';
import { isAbsolute, join, parse, resolve } from 'node:path';
import { KaiwuError } from '../core/errors.ts';

export const CHANNELS = ['kaiwu', 'hprev', 'hdev'] as const;
/** A release channel. Each has its own command and its own home, so that they never share state. */
export type Channel = (typeof CHANNELS)[number];

const FOLDERS: Record<Channel, string> = { kaiwu: '.kaiwu', hprev: '.kaiwu-preview', hdev: '.kaiwu-dev' };

/**
 * The folder that holds all state of this user and channel, absolute.
 * @param options.kaiwuHome value of KAIWU_HOME, which wins
 * @param options.userHome value of HOME; without it the password database is asked
 * @throws state_damaged when neither names a usable folder
 */
export function resolveHome(options: { channel: Channel; kaiwuHome?: string; userHome?: string }): string {
  if (options.kaiwuHome) return resolve(options.kaiwuHome);
  const userHome = options.userHome || passwordHome();
  if (userHome === undefined || !isAbsolute(userHome) || userHome === parse(userHome).root) {
    const message = `This user has no home folder of its own (received ${JSON.stringify(userHome ?? '')}), so Kaiwu has no place for its state.`;
    throw new KaiwuError('state_damaged', message, {
      hint: 'Set KAIWU_HOME to a folder that belongs to this user, or set HOME.',
    });
  }
  return join(userHome, FOLDERS[options.channel]);
}

function passwordHome(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    // A uid without an entry in the password database, as in many containers.
    return undefined;
  }
}

/** Where everything lies under a home. */
export interface HomePaths {
  home: string;
  config: string;
  configLock: string;
  /** Agents that the person added. */
  agents: string;
  agentsLock: string;
  logs: string;
  backend: {
    folder: string;
    database: string;
    /** Ciphertext of files. */
    blobs: string;
    bootstrap: string;
    /** Key under which secrets of managed MCP servers are sealed. */
    secretsKey: string;
    identity: string;
    state: string;
    lock: string;
  };
  /** The supervisor of `kaiwu up`. */
  up: { state: string; lock: string };
  profile(name: string): ProfilePaths;
}

export interface ProfilePaths {
  folder: string;
  credentials: string;
  /** Says which store holds the credentials. */
  credentialStore: string;
  /** The account's key, which store holds it, and its public half. */
  identity: string;
  identityStore: string;
  recipient: string;
  daemonState: string;
  daemonDatabase: string;
  daemonLock: string;
}

export function toHomePaths(home: string): HomePaths {
  const backend = join(home, 'backend');
  return {
    home,
    config: join(home, 'config.json'),
    configLock: join(home, 'config.lock'),
    agents: join(home, 'agents.json'),
    agentsLock: join(home, 'agents.lock'),
    logs: join(home, 'logs'),
    backend: {
      folder: backend,
      database: join(backend, 'kaiwu.db'),
      blobs: join(backend, 'blobs'),
      bootstrap: join(backend, 'bootstrap.json'),
      secretsKey: join(backend, 'secrets.key'),
      identity: join(backend, 'identity.json'),
      state: join(backend, 'backend.json'),
      lock: join(backend, 'backend.lock'),
    },
    up: { state: join(home, 'up.json'), lock: join(home, 'up.lock') },
    profile(name) {
      const folder = join(home, 'profiles', name);
      return {
        folder,
        credentials: join(folder, 'credentials.json'),
        credentialStore: join(folder, 'credential-store.json'),
        identity: join(folder, 'identity.json'),
        identityStore: join(folder, 'identity-store.json'),
        recipient: join(folder, 'recipient.json'),
        daemonState: join(folder, 'daemon.json'),
        daemonDatabase: join(folder, 'daemon.db'),
        daemonLock: join(folder, 'daemon.lock'),
      };
    },
  };
}
