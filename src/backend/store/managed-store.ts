import type { ToolDefinition } from '../../core/managed/managed.ts';
import type { ManagedServer } from '../../core/ports/managed.ts';

/** Settings of a server as they may be shown. */
export type ShownConfig = ManagedServer['config'];

export interface StoredServer {
  serverKey: string;
  /** Unique, however it is spelt in capitals. */
  name: string;
  source: ManagedServer['source'];
  /** `backend`, or the machine that runs it. */
  place: string;
  /** Its key at the machine whose file it is in. */
  machineKey?: string;
  /** Undefined where the row is damaged. */
  config?: ShownConfig;
  /** Secret values that it has: `token`, `headers.X-Api-Key`. */
  secretNames: string[];
  /** Those values, sealed. */
  sealed?: string;
  /** What signing in to it left, sealed. */
  signIn?: string;
  /** Its tools as it last listed them. */
  listing?: ToolDefinition[];
  /** When its first listing was taken for trusted. */
  trustedAt?: string;
  createdAt: string;
  updatedAt: string;
}

/** A definition that a person trusts. */
export interface StoredPin {
  serverKey: string;
  tool: string;
  digest: string;
  /** Undefined where the row is damaged. */
  definition?: ToolDefinition;
  acceptedAt: string;
}

export type NewPin = Omit<StoredPin, 'serverKey' | 'acceptedAt'> & { definition: ToolDefinition };

export type ServerChange = Partial<
  Pick<StoredServer, 'name' | 'place' | 'secretNames' | 'listing' | 'machineKey'>
> & {
  config?: ShownConfig;
  /** Null takes it away. */
  sealed?: string | null;
  signIn?: string | null;
};

/** Keeps managed servers and pins. What is sealed stays sealed here. */
export interface ManagedStore {
  /** Servers by name. */
  all(): Promise<{ servers: StoredServer[]; pins: StoredPin[] }>;
  /** Undefined where the name is taken. */
  insert(
    server: Omit<StoredServer, 'createdAt' | 'updatedAt' | 'trustedAt' | 'listing' | 'config'> & {
      config: ShownConfig;
    },
  ): Promise<StoredServer | undefined>;
  /** Undefined where there is none. Under another name its actions are others: grants of the old ones are revoked. */
  update(serverKey: string, change: ServerChange): Promise<StoredServer | undefined>;
  /** With its pins; the grants of its actions are revoked. */
  remove(serverKey: string): Promise<void>;
  /** Trusts a first listing. Undefined where one was trusted before: nothing happens then. */
  trust(serverKey: string, pins: NewPin[]): Promise<{ trustedAt: string; pins: StoredPin[] } | undefined>;
  /** Trusts definitions as they are now, and revokes what was granted for the actions when they were others. */
  accept(serverKey: string, pins: NewPin[], actionIds: string[]): Promise<StoredPin[]>;
}
