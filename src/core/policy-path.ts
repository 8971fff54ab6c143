import { KaiwuError } from './errors.ts';
import { type PolicyDocument, type PolicyPatch, type SurfaceRule, toPolicyPatch } from './policy.ts';
import { SURFACES, type Surface } from './spec.ts';

/** One word for what a rule says of a surface. */
const WORDS = new Map<string, SurfaceRule>(
  Object.entries({
    allow: { enabled: true },
    deny: { enabled: false },
    ask: { approval: true },
    run: { approval: false },
    direct: { exposure: 'direct' },
    discoverable: { exposure: 'discoverable' },
  }),
);

const FIELDS = ['enabled', 'approval', 'exposure'] as const;
type Field = (typeof FIELDS)[number];

interface RulePath {
  /** Action id or family. */
  key: string;
  surface?: Surface;
  field?: Field;
}

/** `session.archive.mcp.approval`: from the end, a setting if there is one, a surface if there is one, then the rule's key. */
function toRulePath(path: string): RulePath {
  const parts = path.split('.');
  const field = FIELDS.find((name) => name === parts.at(-1));
  if (field !== undefined) parts.pop();
  const surface = SURFACES.find((name) => name === parts.at(-1));
  if (surface !== undefined) parts.pop();
  const key = parts.join('.');
  if (key === '' || (field !== undefined && surface === undefined)) {
    throw invalidPath(path, 'is not a path of a rule');
  }
  return { key, ...(surface === undefined ? {} : { surface }), ...(field === undefined ? {} : { field }) };
}

/**
 * The change that `path value` means: `session.archive.mcp ask`, or with the setting itself `session.archive.mcp.approval true`.
 * @throws invalid_input
 */
function toAssignment(path: string, value: string): PolicyPatch {
  const { key, surface, field } = toRulePath(path);
  if (surface === undefined) throw invalidPath(path, `names no surface (${SURFACES.join(', ')})`);
  const rule = field === undefined ? WORDS.get(value) : toField(field, value);
  if (rule === undefined) {
    throw invalidPath(
      path,
      `cannot be ${JSON.stringify(value.slice(0, 40))}; it takes ${wordsFor(field).join(', ')}`,
    );
  }
  return { [key]: { [surface]: rule } };
}

function toField(field: Field, value: string): SurfaceRule | undefined {
  if (field === 'exposure')
    return value === 'direct' || value === 'discoverable' ? { exposure: value } : undefined;
  return value === 'true' || value === 'false' ? { [field]: value === 'true' } : undefined;
}

const wordsFor = (field: Field | undefined): string[] => {
  if (field === undefined) return [...WORDS.keys()];
  return field === 'exposure' ? ['direct', 'discoverable'] : ['true', 'false'];
};

/** The change that a call asks for: one path and its value, or rules. @throws invalid_input */
export function toPolicyChange(change: { path?: string; value?: string; rules?: PolicyPatch }): PolicyPatch {
  const { path, value, rules } = change;
  if ((path === undefined) !== (value === undefined))
    throw invalidPath(path ?? '', 'needs a path and a value together');
  return { ...toPolicyPatch(rules ?? {}), ...(path === undefined ? {} : toAssignment(path, value ?? '')) };
}

/** The change that takes a rule, or one surface or setting of it, out of a document. @throws invalid_input */
export function toRemoval(path: string, rules: PolicyDocument['rules']): PolicyPatch {
  const { key, surface, field } = toRulePath(path);
  const rule = rules[key];
  if (rule === undefined || (surface !== undefined && rule[surface] === undefined)) {
    throw invalidPath(path, `is not in the policy; rules: ${Object.keys(rules).join(', ') || 'none'}`);
  }
  if (surface === undefined) return { [key]: null };
  if (field === undefined) return { [key]: { [surface]: null } };
  return { [key]: { [surface]: { ...rule[surface], [field]: undefined } } };
}

function invalidPath(path: string, problem: string): KaiwuError {
  const message = `${JSON.stringify(path.slice(0, 120))} ${problem}`;
  return new KaiwuError('invalid_input', `${message}.`, {
    hint: 'For example: session.archive.mcp ask, or session.archive.mcp.approval true.',
    details: { issues: [{ path: 'path', message: problem, received: path.slice(0, 120) }] },
  });
}
