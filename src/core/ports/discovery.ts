import type { Caller } from '../call.ts';
import type { ListedTool } from '../listed-tools.ts';
import type { PolicyAnswer } from '../policy.ts';
import type { RegistryTool } from '../registry.ts';
import type { ActionManifest, Effect, Exposure, Surface } from '../spec.ts';

export interface SpecMatch {
  id: string;
  title: string;
  summary: string;
  effect: Effect;
  exposure: Exposure;
  /** Set when it is a named tool on this surface. */
  toolName?: string;
  score: number;
  /** Why it cannot be called here now. */
  blocked?: string;
}

export interface FieldOption {
  value: string;
  label: string;
}

/** What the catalog says of itself to one caller. Source: core, over the catalog and the policy. */
export interface DiscoveryPort {
  search(query: string, filter: { effect?: Effect; limit: number }, caller: Caller): Promise<SpecMatch[]>;
  /** @throws unknown_action */
  describe(actionId: string, caller: Caller): Promise<{ spec: ActionManifest; policy: PolicyAnswer }>;
  /**
   * What the policy says of an action on one surface, or on all; with an input also which grants would cover that call.
   * @throws unknown_action | invalid_input
   */
  explain(
    of: { actionId: string; surface?: Surface; input?: Record<string, unknown> },
    caller: Caller,
  ): Promise<{
    actionId: string;
    answers: PolicyAnswer[];
    grants?: { grantId: string; covers: boolean; reason?: string }[];
  }>;
  /** Every tool by id, as calls from a surface would find it. */
  registry(surface: Surface, caller: Caller): Promise<RegistryTool[]>;
  /** The tools that a surface lists for a model now. */
  tools(surface: Surface, caller: Caller): Promise<ListedTool[]>;
  /** A rule that names nothing would gate nothing. @throws invalid_input naming the nearest */
  requireRules(keys: string[]): void;
  /** Valid values of a field, from its enum or its option source. @throws invalid_input | unknown_action */
  options(
    request: {
      actionId: string;
      field: string;
      input: Record<string, unknown>;
      query?: string;
      limit: number;
    },
    caller: Caller,
    signal: AbortSignal,
  ): Promise<FieldOption[]>;
}
