import type { LookupAddress, LookupAllOptions, LookupOneOptions } from 'node:dns';
import type { Agent } from 'node:http';

/** How addresses are reached from this machine; handed in by `src/app`. */
export interface ManagedNetwork {
  /** Keeps the connections to one origin, through the proxy where one is set for it. Its holder destroys it. */
  createAgent(origin: URL): Agent;
  /** Finds a host as Node's `dns.lookup`, but that `localhost` is this machine in both of its forms. */
  lookup(
    host: string,
    options: LookupAllOptions | LookupOneOptions,
    answered: (
      error: NodeJS.ErrnoException | null,
      address: string | LookupAddress[],
      family?: number,
    ) => void,
  ): void;
}
