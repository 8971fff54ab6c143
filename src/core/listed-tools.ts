import type { CatalogEntry } from './feed.ts';
import type { ActionAlias, JsonSchema } from './spec.ts';

/** An action, or an alias of one, as a tool of its own in a list for a model. */
export interface ListedTool {
  name: string;
  summary: string;
  inputSchema: JsonSchema & { type: 'object' };
  entry: CatalogEntry;
}

/**
 * Most tools in one list. Hosts warn past some dozens of ours; of managed servers people chose each, up to what the strictest host
 * takes in all.
 */
export const LISTED_LIMITS = { own: 40, all: 128 } as const;

/**
 * What of the tools is listed, ours first, and what is left out since there is no room. Managed servers get their room in turn,
 * so that none takes all of it. What is left out can be called all the same.
 */
export function fitToList<T extends { entry: Pick<CatalogEntry, 'managed'> }>(
  tools: readonly T[],
): { listed: T[]; leftOut: T[] } {
  const own = tools.filter(({ entry }) => entry.managed === undefined);
  const listedOwn = own.slice(0, LISTED_LIMITS.own);
  const counts = new Map<string, number>();
  const inTurn = tools
    .flatMap((tool) => {
      const { managed } = tool.entry;
      if (managed === undefined) return [];
      const turn = counts.get(managed.server) ?? 0;
      counts.set(managed.server, turn + 1);
      return [{ tool, turn }];
    })
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, LISTED_LIMITS.all - listedOwn.length);
  const listed = new Set([...listedOwn, ...inTurn.map(({ tool }) => tool)]);
  return {
    listed: [...listedOwn, ...tools.filter((tool) => tool.entry.managed !== undefined && listed.has(tool))],
    leftOut: tools.filter((tool) => !listed.has(tool)),
  };
}

/** The tools that a surface lists, by id, an alias behind its action: what the policy makes direct and does not refuse. */
export const toListedTools = (entries: readonly CatalogEntry[]): ListedTool[] =>
  entries.toSorted((a, b) => (a.id < b.id ? -1 : 1)).flatMap(toolsOf);

function toolsOf(entry: CatalogEntry): ListedTool[] {
  const { outcome, exposure, surface } = entry.policy;
  if (outcome === 'refused') return [];
  const direct = exposure.value === 'direct';
  const aliases = (entry.aliases ?? []).filter(
    ({ tool, directOn }) => tool && (direct || directOn?.includes(surface)),
  );
  return [...(direct ? [toTool(entry)] : []), ...aliases.map((alias) => toAliasTool(entry, alias))];
}

const toTool = (entry: CatalogEntry): ListedTool => ({
  name: entry.toolName,
  summary: entry.summary,
  inputSchema: { ...entry.inputSchema, type: 'object' },
  entry,
});

function toAliasTool(entry: CatalogEntry, alias: ActionAlias): ListedTool {
  const { properties = {}, required = [], ...schema } = entry.inputSchema;
  const kept = (name: string) => !(alias.omit ?? []).includes(name);
  const names = required.filter(kept);
  return {
    name: alias.name,
    summary: alias.summary ?? entry.summary,
    inputSchema: {
      ...schema,
      type: 'object',
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => kept(name))),
      ...(names.length === 0 ? {} : { required: names }),
    },
    entry,
  };
}
