import type { CatalogEntry } from './feed.ts';
import type { ActionAlias, JsonSchema } from './spec.ts';

/** An action, or an alias of one, as a tool of its own in a list for a model. */
export interface ListedTool {
  name: string;
  summary: string;
  inputSchema: JsonSchema & { type: 'object' };
  entry: CatalogEntry;
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
