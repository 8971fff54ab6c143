import type * as z from 'zod';
import { KaiwuError } from './errors.ts';
import { toIssueText } from './issue-text.ts';
import { misspelt } from './nearest.ts';
import type { ActionManifest, AnyAction, JsonSchema } from './spec.ts';
import { toShortText } from './visible-text.ts';

/** Keys that hosts are known to add to any tool's arguments. Dropped everywhere, forwarded nowhere. */
export const HOST_KEYS: readonly string[] = ['wait_for_previous', 'task_progress'];

export interface InputIssue {
  /** Dotted path; empty for the whole input. */
  path: string;
  message: string;
  /** Short form of what was sent; never of a secret field. */
  received?: string;
}

/**
 * Brings what real hosts send into the shape that the schema asks for, then validates it: absent, `null` and `{}` are one;
 * `null` for an optional field is absent unless the spec lists the field as clearable; `"5"` is 5 where an integer is
 * asked and nothing looser; a list or object in JSON text is taken for what it holds.
 * @throws invalid_input with all issues
 */
export function parseInput(
  action: AnyAction,
  manifest: ActionManifest,
  raw: unknown,
): Record<string, unknown> {
  const issues: InputIssue[] = [];
  const prepared = prepareRoot(manifest, raw, issues);
  const parsed = action.input.safeParse(prepared);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      issues.push(toIssue(issue, prepared, manifest));
    }
  }
  if (issues.length > 0) throw invalidInput(manifest.id, issues);
  return parsed.data as Record<string, unknown>;
}

export function invalidInput(actionId: string, issues: InputIssue[]): KaiwuError {
  const told = issues.map(({ path, message, received }) => {
    const got = received === undefined ? '' : ` (received ${received})`;
    return `${path === '' ? 'input' : path}: ${message}${got}`;
  });
  return new KaiwuError('invalid_input', `${actionId} cannot run with this input: ${told.join('; ')}.`, {
    hint: `Its fields: action_spec_get with actionId ${actionId}, or \`kaiwu action get ${actionId}\`.`,
    details: { issues },
  });
}

function prepareRoot(manifest: ActionManifest, raw: unknown, issues: InputIssue[]): unknown {
  const value = fromJsonText(raw, 'object') ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    issues.push({ path: '', message: 'must be an object', received: show(value) });
    return {};
  }
  const clearable = new Set(manifest.clearable);
  return prepareObject(manifest.inputSchema, value as Record<string, unknown>, {
    issues,
    path: [],
    keepNull: (key) => clearable.has(key),
    unknown: manifest.openInput === true ? 'keep' : manifest.effect === 'read' ? 'drop' : 'refuse',
  });
}

interface Place {
  issues: InputIssue[];
  path: string[];
  keepNull(key: string): boolean;
  /** What becomes of a key that is neither known nor a misspelt one. */
  unknown: 'keep' | 'drop' | 'refuse';
}

function prepareObject(
  schema: JsonSchema,
  value: Record<string, unknown>,
  place: Place,
): Record<string, unknown> {
  const known = schema.properties;
  // A free-form object is the caller's own.
  if (known === undefined || (Object.keys(known).length === 0 && place.path.length > 0)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const field = Object.hasOwn(known, key) ? known[key] : undefined;
    if (field === undefined) {
      if (isOpen(schema, key, place) || isKept(key, Object.keys(known), place)) result[key] = item;
    } else if (item === null && !place.keepNull(key)) {
      if (schema.required?.includes(key)) result[key] = null;
    } else if (item !== undefined) {
      const path = [...place.path, key];
      // What is kept as it came is for the schema to judge, its nulls too.
      result[key] = prepareValue(field, item, { ...place, path, keepNull: () => place.unknown === 'keep' });
    }
  }
  return result;
}

/** Whether the schema itself has room for a key of any name, so that it is no misspelt one, and none that a host has added. */
const isOpen = ({ additionalProperties = false }: JsonSchema, key: string, place: Place): boolean =>
  place.unknown === 'keep' &&
  additionalProperties !== false &&
  (place.path.length > 0 || !HOST_KEYS.includes(key));

/** Whether a key that is not known is passed on. Reports it where it is refused. */
function isKept(key: string, known: string[], place: Place): boolean {
  if (HOST_KEYS.includes(key)) return false;
  const meant = misspelt(key, known);
  if (meant === undefined && place.unknown !== 'refuse') return place.unknown === 'keep';
  const path = [...place.path, key].join('.');
  const message =
    meant === undefined
      ? `is not a field; fields: ${known.join(', ')}`
      : `is not a field; did you mean ${meant}?`;
  place.issues.push({ path, message });
  return false;
}

function prepareValue(schema: JsonSchema, value: unknown, place: Place): unknown {
  switch (schema.type) {
    case 'integer':
      return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    case 'number':
      return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value;
    case 'array': {
      const list = fromJsonText(value, 'array');
      const { items } = schema;
      return Array.isArray(list) && items !== undefined
        ? list.map((item, i) => prepareValue(items, item, { ...place, path: [...place.path, String(i)] }))
        : list;
    }
    case 'object': {
      const object = fromJsonText(value, 'object');
      return typeof object === 'object' && object !== null && !Array.isArray(object)
        ? prepareObject(schema, object as Record<string, unknown>, place)
        : object;
    }
    case 'string':
      if (typeof value === 'string' && value.includes('\0')) {
        place.issues.push({
          path: place.path.join('.'),
          message: 'holds the character U+0000, which no text has',
        });
      }
      return value;
    default:
      return value;
  }
}

/** Models often send a list or an object as its JSON text. */
export function fromJsonText(value: unknown, type: 'array' | 'object'): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith(type === 'array' ? '[' : '{')) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function toIssue(issue: z.core.$ZodIssue, input: unknown, manifest: ActionManifest): InputIssue {
  const { path } = issue;
  const secret = manifest.secrets?.includes(String(path[0])) ?? false;
  const value = path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  );
  const dotted = path.map(String).join('.');
  if (value === undefined) return { path: dotted, message: 'is required' };
  return { path: dotted, message: toIssueText(issue), ...(secret ? {} : { received: show(value) }) };
}

const show = (value: unknown): string => toShortText(JSON.stringify(value) ?? String(value), 80);
