import type { CatalogAnswer, CatalogEntry } from '../../core/feed.ts';
import { fitToList, type ListedTool, toListedTools } from '../../core/listed-tools.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { JsonSchema, ManagedOrigin } from '../../core/spec.ts';
import { findPortabilityProblems } from './tool-check.ts';

/** A tool as `tools/list` tells it. */
export interface McpTool {
  name: string;
  title: string;
  description: string;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  inputSchema: JsonSchema & { type: 'object' };
  /** Absent for a tool of a managed server: its results are its own. */
  outputSchema?: JsonSchema & { type: 'object' };
}

/** A tool that any host takes, and what it is made of. */
export interface ListableTool {
  tool: McpTool;
  entry: ListedTool['entry'];
}

/** Whether who asks for the list may use a tool of a managed server. */
export type Sees = (origin: ManagedOrigin) => boolean;

/**
 * The tools of a catalog, by id, an alias behind its action: what the policy makes direct and does not refuse.
 * A tool that some host would choke on is left out, since one bad schema can take the whole list down.
 */
export function toListable(catalog: CatalogAnswer, log: Logger): ListableTool[] {
  return toListedTools(catalog.actions).flatMap((listed) => {
    const tool = toTool(listed);
    const [why] = findPortabilityProblems(tool);
    if (why === undefined) return [{ tool, entry: listed.entry }];
    leaveOut(log, tool.name, why);
    return [];
  });
}

/** What of it one host is told. */
export function toTools(listable: readonly ListableTool[], log: Logger, sees: Sees = () => true): McpTool[] {
  const seen = listable.filter(({ entry }) => entry.managed === undefined || sees(entry.managed));
  const { listed, leftOut } = fitToList(seen);
  for (const { tool } of leftOut) leaveOut(log, tool.name, `only ${listed.length} tools are listed`);
  return listed.map(({ tool }) => tool);
}

const leaveOut = (log: Logger, tool: string, why: string) =>
  log.warn({ tool, why }, 'tool left out of the list; it can still be called');

function toTool({ name, summary, inputSchema, entry }: ListedTool): McpTool {
  return {
    name,
    title: entry.title.en,
    description: toDescription(entry, summary),
    annotations: {
      readOnlyHint: entry.effect === 'read',
      destructiveHint: entry.effect === 'destructive',
      idempotentHint: entry.idempotent,
      openWorldHint: entry.openWorld,
    },
    inputSchema,
    ...(entry.managed === undefined ? { outputSchema: toOpenOutput(withoutWords(entry.outputSchema)) } : {}),
  };
}

function toDescription({ description, policy, managed }: CatalogEntry, summary: string): string {
  const asks =
    policy.outcome === 'asks'
      ? 'Asks a person for approval first: it then answers approval_request_created with an artifactId in place of its result.'
      : undefined;
  // What a stranger wrote comes last and under its name, so that it cannot pass for ours.
  const words =
    managed === undefined
      ? [summary, description, asks]
      : [asks, `Tool of the MCP server ${managed.server}, described by it as:`, description ?? summary];
  return words.filter((part) => part !== undefined && part !== '').join(' ');
}

/** Keys of what a call answers in place of its output: an approval or, with `isError`, an error. */
const OTHER_ANSWERS: Record<string, 'string' | 'integer' | 'object'> = {
  kind: 'string',
  artifactId: 'string',
  actionId: 'string',
  summary: 'string',
  status: 'string',
  expiresAt: 'string',
  decideWith: 'string',
  waitWith: 'string',
  count: 'integer',
  remaining: 'integer',
  error: 'object',
};

/** A listed output tells the shape; what each field means stands in the spec, for those who ask. Halves the cost of the list. */
function withoutWords(schema: JsonSchema): JsonSchema {
  const { description: _, properties, items, additionalProperties, ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, withoutWords(field)]);
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(fields) as Record<string, JsonSchema> }),
    ...(items === undefined ? {} : { items: withoutWords(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: withoutWords(additionalProperties) }
      : {}),
  };
}

/**
 * Hosts validate every result against the listed schema, approvals and (the older ones) errors too. So the root requires
 * nothing, and a field whose name those answers also use tells only the type that both share.
 */
function toOpenOutput(schema: JsonSchema): NonNullable<McpTool['outputSchema']> {
  const { required: _, properties = {}, ...root } = schema;
  const open = Object.entries(properties).flatMap(([name, property]): [string, JsonSchema][] => {
    const type = Object.hasOwn(OTHER_ANSWERS, name) ? OTHER_ANSWERS[name] : undefined;
    if (type === undefined) return [[name, property]];
    return property.type === type ? [[name, { type }]] : [];
  });
  return { ...root, type: 'object', properties: Object.fromEntries(open) };
}
