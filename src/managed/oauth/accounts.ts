import type { OAuthVault, RunnableServer } from '../../core/managed/managed.ts';
import { type OAuthRecord, toRecord } from './record.ts';

/** What a server said when it refused a request: where it tells of its sign-in, and the scopes that it wants. */
export interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
}

interface Account {
  /** The vault's record, read once. */
  stored?: Promise<Record<string, unknown> | undefined>;
  /** The end of the last thing that was done alone. */
  queue: Promise<unknown>;
  challenge?: Challenge;
  /** The token (none: undefined) that was refused for good, and when. */
  refused?: { token: string | undefined; at: number };
  /** When tokens were refreshed. */
  refreshes: number[];
}

/** The accounts of one vault at their servers, and who does what with them: shared by connections and sign-ins. */
export interface Accounts {
  of(key: string): Account;
  read(server: RunnableServer): Promise<OAuthRecord | undefined>;
  /** What comes next uses the new record even if the vault fails. */
  write(key: string, record: OAuthRecord | undefined): Promise<void>;
  /** One at a time for a server. */
  alone<T>(key: string, work: () => Promise<T>): Promise<T>;
}

const known = new WeakMap<OAuthVault, Accounts>();

export function accountsOf(vault: OAuthVault): Accounts {
  const found = known.get(vault);
  if (found !== undefined) return found;
  const accounts = createAccounts(vault);
  known.set(vault, accounts);
  return accounts;
}

function createAccounts(vault: OAuthVault): Accounts {
  const accounts = new Map<string, Account>();
  function of(key: string): Account {
    const account = accounts.get(key) ?? { queue: Promise.resolve(), refreshes: [] };
    accounts.set(key, account);
    return account;
  }
  return {
    of,
    async read({ key, config }) {
      const account = of(key);
      const reading = (account.stored ??= vault.read(key));
      // What failed once is tried again.
      reading.catch(() => {
        if (account.stored === reading) delete account.stored;
      });
      return toRecord(await reading, config.url ?? '');
    },
    async write(key, record) {
      const account = of(key);
      account.stored = Promise.resolve(record);
      delete account.refused;
      await vault.write(key, record);
    },
    alone(key, work) {
      const account = of(key);
      const done = account.queue.then(work, work);
      account.queue = done.catch(() => undefined);
      return done;
    },
  };
}
