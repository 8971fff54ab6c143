import type { ToolDefinition } from '../../core/managed/managed.ts';
import type { ManagedServer } from '../../core/ports/managed.ts';
import type { ShownConfig } from './managed-store.ts';
import type { Json } from './rows.ts';

/** Tables of managed servers, as the queries see them. */
export interface ManagedSchema {
  managedServers: {
    serverKey: string;
    name: string;
    /** In small letters: two that differ in capitals are one. */
    nameFolded: string;
    source: ManagedServer['source'];
    place: string;
    machineKey: string | null;
    config: Json<ShownConfig>;
    secretNames: Json<string[]>;
    sealed: string | null;
    signIn: string | null;
    listing: Json<ToolDefinition[]> | null;
    trustedAt: string | null;
    createdAt: string;
    updatedAt: string;
  };
  managedPins: {
    serverKey: string;
    tool: string;
    digest: string;
    definition: Json<ToolDefinition>;
    acceptedAt: string;
  };
}
