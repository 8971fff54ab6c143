import { KaiwuError } from './errors.ts';
import { isManagedName } from './managed/names.ts';
import { toPortableSchema } from './schema.ts';
import type { ActionAlias, ActionData, ActionManifest, AnyAction, Capability, Unavailable } from './spec.ts';
import { toToolName } from './spec.ts';
import { nearest } from './nearest.ts';

export interface FoundAction {
  action: AnyAction;
  /** Set when it was called by an alias. */
  alias?: ActionAlias;
}

export interface Catalog {
  /** Sorted by id; those of managed servers last. */
  readonly actions: readonly AnyAction[];
  readonly manifests: readonly ActionManifest[];
  /** Changes whenever an action came, went or changed. */
  readonly revision: string;
  /** By id, tool name or alias. @throws unknown_action, naming the nearest three */
  find(name: string): FoundAction;
  manifest(id: string): ActionManifest;
  /** By its very id; undefined where there is none. */
  known(id: string): AnyAction | undefined;
}

/** An action that is not part of the build, with the manifest that was made for it. */
export interface FurtherAction {
  action: AnyAction;
  manifest: ActionManifest;
}

/** Actions that come and go while the backend runs: tools of managed servers. None can take the name of one of the build. */
export interface FurtherActions {
  /** Another one whenever `all` answers something else. */
  revision(): string;
  /** Sorted by id. The same array for the same revision. */
  all(): readonly FurtherAction[];
  /** By id, tool name or another spelling that people and models use for it. */
  find(name: string): FurtherAction | undefined;
}

/** Which capabilities are there now. */
export interface Capabilities {
  /** Another one whenever `lacks` answers something else. */
  revision(): string;
  lacks(need: Capability): Unavailable | undefined;
}

const EVERYTHING: Capabilities = { revision: () => '', lacks: () => undefined };

const NO_FURTHER: FurtherActions = { revision: () => '', all: () => [], find: () => undefined };

/** Builds the catalog. Two actions that share an id, a tool name or an alias are a defect of the build. */
export function createCatalog(
  actions: readonly AnyAction[],
  further: FurtherActions = NO_FURTHER,
  capabilities: Capabilities = EVERYTHING,
): Catalog {
  const asOfNow = <T extends ActionData>(spec: T): T => {
    const unavailable = spec.needs === undefined ? undefined : capabilities.lacks(spec.needs);
    return unavailable === undefined ? spec : { ...spec, unavailable };
  };
  const sorted = [...actions].sort((a, b) => (a.id < b.id ? -1 : 1));
  const byName = new Map<string, FoundAction>();
  const add = (name: string, found: FoundAction) => {
    if (byName.has(name)) throw new Error(`two actions are called ${name}`);
    if (isManagedName(name)) throw new Error(`${name} is a name for tools of managed servers`);
    byName.set(name, found);
  };
  for (const action of sorted) {
    add(action.id, { action });
    if (toToolName(action.id) !== action.id) add(toToolName(action.id), { action });
    for (const alias of action.aliases ?? []) add(alias.name, { action, alias });
  }
  // In the spelling of the caller: an id and its tool name say the same.
  const namesLike = (name: string) => [
    ...sorted.flatMap(({ id, aliases = [] }) => [
      name.includes('.') ? id : toToolName(id),
      ...aliases.map((alias) => alias.name),
    ]),
    ...further.all().map(({ manifest }) => (name.includes('.') ? manifest.id : manifest.toolName)),
  ];
  const manifests = sorted.map(toManifest);
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  return {
    get actions() {
      return [...sorted.map(asOfNow), ...further.all().map(({ action }) => action)];
    },
    get manifests() {
      return [...manifests.map(asOfNow), ...further.all().map(({ manifest }) => manifest)];
    },
    get revision() {
      return `${further.revision()} ${capabilities.revision()}`;
    },
    find(name) {
      const found = byName.get(name) ?? further.find(name);
      if (found === undefined) throw unknownAction(name, namesLike(name));
      return { ...found, action: asOfNow(found.action) };
    },
    known(id) {
      const action = (byName.get(id) ?? further.find(id))?.action;
      return action?.id === id ? asOfNow(action) : undefined;
    },
    manifest(id) {
      const manifest = byId.get(id) ?? further.find(id)?.manifest;
      if (manifest === undefined) throw unknownAction(id, [...byId.keys()]);
      return asOfNow(manifest);
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
