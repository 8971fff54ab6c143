import { KaiwuError } from './errors.ts';
import type { CallContext, TokenScope } from './call.ts';
import type { ActionData, Exposure, Surface, Unavailable } from './spec.ts';
import { SURFACES } from './spec.ts';

/** What one rule says of one surface. Absent means "no opinion". */
export interface SurfaceRule {
  enabled?: boolean;
  approval?: boolean;
  exposure?: Exposure;
}

export type ActionRule = Partial<Record<Surface, SurfaceRule>>;

/** The account's rules. Keys are action ids or families (`session.*`); unknown ids are kept as they are. */
export interface PolicyDocument {
  version: number;
  rules: Record<string, ActionRule>;
  /** Absent settings have their defaults. */
  settings?: PolicySettings;
}

export interface PolicySettings {
  /** Most approvals that one requester may have pending. Default 20. */
  maxPendingApprovals?: number;
  /** Hours that a request waits for a decision. Default 24. */
  approvalHours?: number;
}

/** A change of the document: rules are merged field by field, `null` removes. */
export type PolicyPatch = Record<string, Partial<Record<Surface, SurfaceRule | null>> | null>;

export const DEFAULT_SETTINGS: Required<PolicySettings> = { maxPendingApprovals: 20, approvalHours: 24 };

export const EMPTY_POLICY: PolicyDocument = { version: 0, rules: {} };

/** One of the three independent answers, and what gave it. */
export interface Answered<T> {
  value: T;
  /** A rule's key, `spec` for the action's own default, or `floor` for what no rule can change. */
  from: string;
}

/** What the policy says of one action on one surface. */
export interface PolicyAnswer {
  surface: Surface;
  /** False where the spec lacks the surface: no rule can add it. */
  supported: boolean;
  enabled: Answered<boolean>;
  approval: Answered<boolean>;
  exposure: Answered<Exposure>;
  /** What a call would do now. */
  outcome: 'runs' | 'asks' | 'refused';
  /** Why it would be refused. */
  reason?: 'unsupported_surface' | 'disabled_by_policy' | 'outside_token_scope' | Unavailable['reason'];
}

/** Keys that speak of an action, nearest first: the id itself, then its families. */
export function keysOf(actionId: string): string[] {
  const parts = actionId.split('.');
  const families = parts.slice(0, -1).map((_, i) => `${parts.slice(0, parts.length - 1 - i).join('.')}.*`);
  return [actionId, ...families];
}

function firstRule<K extends keyof SurfaceRule>(
  policy: PolicyDocument,
  actionId: string,
  surface: Surface,
  field: K,
): Answered<NonNullable<SurfaceRule[K]>> | undefined {
  for (const key of keysOf(actionId)) {
    const value = policy.rules[key]?.[surface]?.[field];
    if (value !== undefined) return { value: value, from: key };
  }
  return undefined;
}

/** `enabled: false` beats all, at whatever level it stands. */
function enabledBy(policy: PolicyDocument, spec: ActionData, surface: Surface, fallback: boolean) {
  const off = keysOf(spec.id).find((key) => policy.rules[key]?.[surface]?.enabled === false);
  if (off !== undefined) return { value: false, from: off };
  return firstRule(policy, spec.id, surface, 'enabled') ?? { value: fallback, from: 'spec' };
}

/** Resolves the three answers. Precedence: exact id over family over spec default; floors over all. */
export function resolvePolicy(
  policy: PolicyDocument,
  spec: ActionData,
  surface: Surface,
  scope: TokenScope = {},
): PolicyAnswer {
  const defaults = spec.surfaces[surface];
  if (defaults === undefined) {
    const no = { value: false, from: 'spec' };
    const exposure = { value: 'discoverable' as const, from: 'spec' };
    return {
      surface,
      supported: false,
      enabled: no,
      approval: no,
      exposure,
      outcome: 'refused',
      reason: 'unsupported_surface',
    };
  }
  const enabled = enabledBy(policy, spec, surface, defaults.enabled ?? true);
  const approval = approvalBy(policy, spec, surface, defaults.approval ?? false);
  const exposure = defaults.exposureLocked
    ? { value: defaults.exposure, from: 'floor' }
    : (firstRule(policy, spec.id, surface, 'exposure') ?? { value: defaults.exposure, from: 'spec' });
  const reason = reasonOf(spec, enabled.value, scope);
  const outcome = reason !== undefined ? 'refused' : approval.value ? 'asks' : 'runs';
  return {
    surface,
    supported: true,
    enabled,
    approval,
    exposure,
    outcome,
    ...(reason === undefined ? {} : { reason }),
  };
}

function reasonOf(spec: ActionData, enabled: boolean, scope: TokenScope): PolicyAnswer['reason'] {
  if (spec.unavailable !== undefined) return spec.unavailable.reason;
  if (!enabled) return 'disabled_by_policy';
  return inScope(spec.id, scope) ? undefined : 'outside_token_scope';
}

function approvalBy(policy: PolicyDocument, spec: ActionData, surface: Surface, fallback: boolean) {
  if (spec.approvals === 'never') return { value: false, from: 'floor' };
  const always = spec.approvals !== 'default' && spec.approvals.always.includes(surface);
  // What an agent destroys, a person has seen before.
  const destructive = spec.effect === 'destructive' && surface === 'agent';
  if (always || destructive) return { value: true, from: 'floor' };
  return firstRule(policy, spec.id, surface, 'approval') ?? { value: fallback, from: 'spec' };
}

/** Whether a token's scope reaches an action. */
export function inScope(actionId: string, scope: TokenScope): boolean {
  if (scope.actions === undefined) return true;
  const keys = keysOf(actionId);
  return scope.actions.some((allowed) => keys.includes(allowed));
}

/** Whether a token may speak for a surface. */
export const surfaceInScope = (context: CallContext, scope: TokenScope): boolean =>
  SURFACES.includes(context.surface) && (scope.surfaces?.includes(context.surface) ?? true);

/** The document after a patch. Rules that became empty are dropped; everything else is kept as it stands. */
export function applyPatch(document: PolicyDocument, patch: PolicyPatch): PolicyDocument {
  const rules = { ...document.rules };
  for (const [key, change] of Object.entries(patch)) {
    const merged = change === null ? {} : mergeRule(rules[key] ?? {}, change);
    if (Object.keys(merged).length > 0) rules[key] = merged;
    else delete rules[key];
  }
  return { version: document.version + 1, rules };
}

function mergeRule(rule: ActionRule, change: NonNullable<PolicyPatch[string]>): ActionRule {
  const merged: ActionRule = { ...rule };
  for (const surface of Object.keys(change) as Surface[]) {
    const next = change[surface];
    if (next === null) delete merged[surface];
    else merged[surface] = { ...merged[surface], ...next };
  }
  return merged;
}

/** Checks the surfaces that a change names. @throws invalid_input */
export function toPolicyPatch(rules: Record<string, Record<string, SurfaceRule | null> | null>): PolicyPatch {
  for (const [key, rule] of Object.entries(rules)) {
    const wrong = Object.keys(rule ?? {}).find((surface) => !SURFACES.includes(surface as Surface));
    if (wrong !== undefined) {
      const message = `is not a surface; surfaces: ${SURFACES.join(', ')}`;
      throw new KaiwuError(
        'invalid_input',
        `The rule ${key} names ${JSON.stringify(wrong)}, which ${message}.`,
        {
          hint: 'A rule is {"<surface>": {"enabled"?, "approval"?, "exposure"?}}.',
          details: { issues: [{ path: `rules.${key}.${wrong}`, message }] },
        },
      );
    }
  }
  return rules;
}
