import type { Caller } from './call.ts';
import { toRemedy } from './caller.ts';
import { type PolicyDocument, resolvePolicy } from './policy.ts';
import type { ActionManifest, Effect, JsonSchema, Surface } from './spec.ts';

/** One tool as the registry tells of it. It describes and decides nothing: calls go the way they always go. */
export interface RegistryTool {
  /** Action id: the same for as long as the tool is there. */
  toolId: string;
  /** Name under which hosts list it. */
  toolName: string;
  title: string;
  summary: string;
  /** `native`, or `mcp:<server>` for a tool of a managed server. */
  route: string;
  effect: Effect;
  /** Agents in whose sessions it may be used; `*` for all, empty for none. */
  allowedAgents: string[];
  /** Families that it belongs to, and its effect. */
  tags: string[];
  /** Whether a call from the surface would be taken now. */
  enabled: boolean;
  /** Why not. */
  reason?: string;
  /** A call from the surface asks a person first. */
  asks: boolean;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
}

/** All tools of the catalog as one surface may see them, by id. Source: the catalog, in which no tool can take a native one's name. */
export const toRegistry = (
  manifests: readonly ActionManifest[],
  policy: PolicyDocument,
  surface: Surface,
  { scope, surface: own }: Caller,
): RegistryTool[] =>
  manifests
    .map((manifest) => toTool(manifest, policy, surface, surface === own ? scope : {}))
    .toSorted((a, b) => (a.toolId < b.toolId ? -1 : 1));

function toTool(
  spec: ActionManifest,
  policy: PolicyDocument,
  surface: Surface,
  scope: Caller['scope'],
): RegistryTool {
  const answer = resolvePolicy(policy, spec, surface, scope);
  const { managed, surfaces } = spec;
  const families = spec.id.split('.').slice(0, -1);
  return {
    toolId: spec.id,
    toolName: spec.toolName,
    title: spec.title.en,
    summary: spec.summary,
    route: managed === undefined ? 'native' : `mcp:${managed.server}`,
    effect: spec.effect,
    allowedAgents: surfaces.agent === undefined ? [] : (managed?.sessions?.agents ?? ['*']),
    tags: [...new Set([...families, spec.effect])],
    enabled: answer.reason === undefined,
    ...(answer.reason === undefined ? {} : { reason: `${answer.reason}: ${toRemedy(spec, answer)}` }),
    asks: answer.outcome === 'asks',
    inputSchema: spec.inputSchema,
    outputSchema: spec.outputSchema,
  };
}
