import type { FurtherActions } from '../catalog.ts';
import type { ServerConfig } from './config.ts';
import type { ToolDefinition } from './managed.ts';
import type { ToolEntry } from './tool-states.ts';

/** What is wrong with the arguments of a call, by the server's own schema. */
export interface ToolIssue {
  path: (string | number)[];
  /** Reads as a sentence behind the field's name. */
  message: string;
}

/** Judges arguments by a server's own schema. Empty where they fit. */
export type ToolValidator = (args: Record<string, unknown>) => ToolIssue[];

/** A managed server with its tools, as far as actions need to know. */
export interface ManagedEntry {
  /** As in `RunnableServer`. */
  key: string;
  /** Unique name. */
  name: string;
  config: Pick<ServerConfig, 'trusted' | 'exposure' | 'sessions'>;
  tools: readonly ToolEntry[];
}

export interface FurtherActionsOptions {
  servers(): readonly ManagedEntry[];
  /** Another one whenever `servers` answers something else. */
  revision(): string;
  /** Of a tool's input, made once and kept. Source: src/managed/validate.ts. */
  validatorOf(definition: ToolDefinition): ToolValidator;
}

/** Tools of managed servers as actions of the catalog. Their calls go to `ports.managedTools.call`. */
export declare function createFurtherActions(options: FurtherActionsOptions): FurtherActions;
