import type { ManagedRuntime, RunnableServer } from '../../core/managed/managed.ts';

/** Servers of the machine's own configuration file, as it is now. Source: `src/local`. */
export interface OwnServers {
  /** Those of the last file that could be read. */
  servers(): readonly RunnableServer[];
  /** Where they come from, for people: a path, or how they were given. */
  readonly source: string;
  /** Why the file of now cannot be used; the last good servers go on. One sentence, no secret. */
  problem(): string | undefined;
  /** What was left out of it, in plain words. */
  warnings(): readonly string[];
  /** Reads it, and again whenever it changes; `onChange` hears of each other outcome. Resolves after the first reading. */
  start(onChange: () => void): Promise<void>;
  close(): void;
}

/** What a daemon needs to run managed MCP servers. */
export interface ManagedOptions {
  /** Called once. `onChange` hears of every change of what `states` answers. */
  createRuntime(onChange: () => void): ManagedRuntime;
  own: OwnServers;
}
