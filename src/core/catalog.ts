import { KaiwuError } from './errors.ts';
import { toPortableSchema } from './schema.ts';
import type { ActionAlias, ActionData, ActionManifest, AnyAction } from './spec.ts';
import { toToolName } from './spec.ts';
import { nearest } from './nearest.ts';

export interface FoundAction {
  action: AnyAction;
  /** Set when it was called by an alias. */
  alias?: ActionAlias;
}

export interface Catalog {
  /** Sorted by id. */
  readonly actions: readonly AnyAction[];
  readonly manifests: readonly ActionManifest[];
  /** By id, tool name or alias. @throws unknown_action, naming the nearest three */
  find(name: string): FoundAction;
  manifest(id: string): ActionManifest;
}

/** Builds the catalog. Two actions that share an id, a tool name or an alias are a defect of the build. */
export function createCatalog(actions: readonly AnyAction[]): Catalog {
  const sorted = [...actions].sort((a, b) => (a.id < b.id ? -1 : 1));
  const byName = new Map<string, FoundAction>();
  const add = (name: string, found: FoundAction) => {
    if (byName.has(name)) throw new Error(`two actions are called ${name}`);
    byName.set(name, found);
  };
  for (const action of sorted) {
    add(action.id, { action });
    if (toToolName(action.id) !== action.id) add(toToolName(action.id), { action });
    for (const alias of action.aliases ?? []) add(alias.name, { action, alias });
  }
  // In the spelling of the caller: an id and its tool name say the same.
  const namesLike = (name: string) =>
    sorted.flatMap(({ id, aliases = [] }) => [
      name.includes('.') ? id : toToolName(id),
      ...aliases.map((alias) => alias.name),
    ]);
  const manifests = sorted.map(toManifest);
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  return {
    actions: sorted,
    manifests,
    find(name) {
      const found = byName.get(name);
      if (found === undefined) throw unknownAction(name, namesLike(name));
      return found;
    },
    manifest(id) {
      const manifest = byId.get(id);
      if (manifest === undefined) throw unknownAction(id, [...byId.keys()]);
      return manifest;
    },
  };
}

function unknownAction(name: string, names: string[]): KaiwuError {
  const suggestions = nearest(name, names, 3);
  return new KaiwuError('unknown_action', `There is no action ${JSON.stringify(name.slice(0, 80))}.`, {
    hint: `Nearest: ${suggestions.join(', ')}. Search the catalog for others.`,
    details: { received: name.slice(0, 80), nearest: suggestions },
  });
}

function toManifest(action: AnyAction): ActionManifest {
  const { input, output, run: _, precondition: __, ...data } = action;
  return {
    ...(data satisfies ActionData),
    toolName: toToolName(action.id),
    inputSchema: toPortableSchema(input, 'input'),
    outputSchema: toPortableSchema(output, 'output'),
  };
}
