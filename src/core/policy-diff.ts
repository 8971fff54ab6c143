import type { PolicyDocument } from './policy.ts';
import { SURFACES } from './spec.ts';

/** Where a value of a policy stands: at a surface of a rule, or (without both) among the settings. */
interface Place {
  rule?: string;
  surface?: string;
  field: string;
}

/** One value in which two policies differ. */
export interface PolicyDifference extends Place {
  /** Absent where the first policy says nothing. */
  before?: unknown;
  /** Absent where the second policy says nothing. */
  after?: unknown;
}

const FIELDS: readonly string[] = ['enabled', 'approval', 'exposure'];

function valuesOf({ rules, settings = {} }: PolicyDocument): (Place & { value: unknown })[] {
  const ofRules = Object.entries(rules).flatMap(([rule, surfaces]) =>
    Object.entries(surfaces).flatMap(([surface, fields]) =>
      Object.entries(fields).map(([field, value]) => ({ rule, surface, field, value })),
    ),
  );
  return [...ofRules, ...Object.entries(settings).map(([field, value]) => ({ field, value }))];
}

const byLetters = (a: string, b: string): number => (a < b ? -1 : Number(a !== b));

/** The known names in their order, then all others by their letters. */
function byOrder(known: readonly string[], a = '', b = ''): number {
  const place = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  return place(a) - place(b) || byLetters(a, b);
}

/** Rules by their letters, families before their actions; then the settings. */
const byPlace = (a: Place, b: Place): number =>
  Number(a.rule === undefined) - Number(b.rule === undefined) ||
  byLetters(a.rule ?? '', b.rule ?? '') ||
  byOrder(SURFACES, a.surface, b.surface) ||
  byOrder(FIELDS, a.field, b.field);

/** The same policy in the one order in which it is always written. Rules that say nothing are left out. */
export function toOrdered(document: PolicyDocument): PolicyDocument {
  const rules = new Map<string, Map<string, Record<string, unknown>>>();
  const settings: Record<string, unknown> = {};
  for (const { rule, surface, field, value } of valuesOf(document).sort(byPlace)) {
    if (rule === undefined || surface === undefined) {
      settings[field] = value;
      continue;
    }
    const surfaces = rules.get(rule) ?? new Map<string, Record<string, unknown>>();
    rules.set(rule, surfaces);
    surfaces.set(surface, { ...surfaces.get(surface), [field]: value });
  }
  return {
    version: document.version,
    rules: Object.fromEntries([...rules].map(([rule, surfaces]) => [rule, Object.fromEntries(surfaces)])),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

/** What changes from one policy to the other, in the order in which policies are written. Versions do not count. */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): PolicyDifference[] {
  const found = new Map<string, PolicyDifference>();
  const keyOf = ({ rule, surface, field }: Place) => JSON.stringify([rule, surface, field]);
  for (const { value, ...place } of valuesOf(before)) found.set(keyOf(place), { ...place, before: value });
  for (const { value, ...place } of valuesOf(after)) {
    const known = found.get(keyOf(place));
    if (known !== undefined && known.before === value) found.delete(keyOf(place));
    else found.set(keyOf(place), { ...place, ...known, after: value });
  }
  return [...found.values()].sort(byPlace);
}
