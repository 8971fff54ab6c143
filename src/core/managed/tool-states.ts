import type { ManagedTool } from '../ports/managed.ts';
import type { Runtime } from '../ports/stores.ts';
import type { Unavailable } from '../spec.ts';
import type { ServerConfig } from './config.ts';
import type { ToolDefinition } from './managed.ts';
import type { ToolPin } from './pins.ts';
import type { PortableToolSchema } from './portable.ts';

/** A tool of a managed server with all that its action is made of. */
export interface ToolEntry extends ManagedTool {
  /** As the server defines it now; as it was accepted, where the server no longer lists it. */
  definition: ToolDefinition;
  /** Absent where it is left out or gone. */
  portable?: Extract<PortableToolSchema, { schema: unknown }>;
  /** Set unless it is available. */
  unavailable?: Unavailable;
}

/** What the states of a server's tools follow from. */
export interface ToolStateSources {
  /** Unique name of the server. */
  server: string;
  config: Pick<ServerConfig, 'include_tools' | 'exclude_tools' | 'enabled' | 'trusted'>;
  /** Last listing; undefined while there was none. */
  tools: readonly ToolDefinition[] | undefined;
  /** What was accepted, by the server's own names of the tools; `damaged` where that cannot be read. */
  pins: ReadonlyMap<string, ToolPin> | 'damaged';
}

/** All tools of a server that are known, sorted by name, each with its state and why. */
export declare function toToolStates(sources: ToolStateSources, sha256: Runtime['sha256']): ToolEntry[];
