import type { FurtherAction, FurtherActions } from '../catalog.ts';
import type { ServerConfig } from './config.ts';
import type { ToolDefinition } from './managed.ts';
import { MANAGED_FAMILY } from './names.ts';
import { toToolAction } from './tool-action.ts';
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
  config: Pick<ServerConfig, 'exposure' | 'sessions'>;
  tools: readonly ToolEntry[];
}

export interface FurtherActionsOptions {
  servers(): readonly ManagedEntry[];
  /** Another one whenever `servers` answers something else. */
  revision(): string;
  /** Of a tool's input, made once and kept. Source: src/managed/validate.ts. */
  validatorOf(definition: ToolDefinition): ToolValidator;
}

interface Made {
  revision: string;
  all: readonly FurtherAction[];
  /** By every spelling that is exactly one tool's. */
  byName: ReadonlyMap<string, FurtherAction>;
  /** What cannot be called, by further spellings in small letters: it is refused by its reason however it is asked for. */
  refused: ReadonlyMap<string, FurtherAction>;
}

/** Tools of managed servers as actions of the catalog. Their calls go to `ports.managedTools.call`. */
export function createFurtherActions(options: FurtherActionsOptions): FurtherActions {
  let made: Made | undefined;
  const now = (): Made => {
    const revision = options.revision();
    if (made?.revision !== revision) made = { revision, ...make(options) };
    return made;
  };
  return {
    revision: () => options.revision(),
    all: () => now().all,
    find(name) {
      const { byName, refused } = now();
      return byName.get(name) ?? refused.get(name.toLowerCase());
    },
  };
}

function make({ servers, validatorOf }: FurtherActionsOptions): Omit<Made, 'revision'> {
  const tools = new Map<string, { entry: ToolEntry; made: FurtherAction }>();
  for (const server of servers()) {
    for (const entry of server.tools) {
      // Two of a server whose names come to the same: the one that may be called is the one that is meant.
      const other = tools.get(entry.actionId)?.entry;
      if (other !== undefined && other.state === 'available') continue;
      tools.set(entry.actionId, { entry, made: toToolAction(server, entry, validatorOf) });
    }
  }
  const sorted = [...tools.values()].sort((a, b) => (a.entry.actionId < b.entry.actionId ? -1 : 1));
  return { all: sorted.map(({ made }) => made), ...toIndex(sorted) };
}

function toIndex(
  tools: readonly { entry: ToolEntry; made: FurtherAction }[],
): Omit<Made, 'revision' | 'all'> {
  const byName = new Map<string, FurtherAction>();
  const refused = new Map<string, FurtherAction>();
  const bare = new Set<string>();
  // Ids first: no other spelling of one tool may stand for what the policy calls by this id.
  for (const { entry, made } of tools) byName.set(entry.actionId, made);
  for (const { entry, made } of tools) setNew(byName, entry.toolName, made);
  for (const { entry, made } of tools) {
    const spellings = toSpellings(entry);
    for (const name of spellings) setNew(byName, name, made);
    const names = [entry.name, entry.toolName.slice(entry.server.length + 2)].map((name) =>
      name.toLowerCase(),
    );
    if (entry.unavailable === undefined) for (const name of names) bare.add(name);
    else {
      for (const name of [entry.actionId, entry.toolName, ...spellings])
        setNew(refused, name.toLowerCase(), made);
    }
  }
  for (const { entry, made } of tools) {
    if (entry.unavailable === undefined) continue;
    for (const name of [entry.name, entry.toolName.slice(entry.server.length + 2)]) {
      if (!bare.has(name.toLowerCase())) setNew(refused, name.toLowerCase(), made);
    }
  }
  return { byName, refused };
}

/** With the server's own name of the tool, or the name that hosts list, behind the server's. */
const toSpellings = ({ server, name, toolName }: ToolEntry): string[] => [
  `${MANAGED_FAMILY}.${server}.${name}`,
  `${MANAGED_FAMILY}.${server}.${toolName}`,
  `${server}__${name}`,
];

function setNew(map: Map<string, FurtherAction>, name: string, made: FurtherAction): void {
  if (!map.has(name)) map.set(name, made);
}
