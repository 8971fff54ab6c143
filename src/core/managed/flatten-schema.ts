import { resolvePointer } from './json-pointer.ts';
import { OPENING, REMARKS, toBrief, toKindWord } from './schema-words.ts';

/** A schema below a node, and the references that led there. */
export interface Part {
  raw: unknown;
  path: readonly string[];
}

/** Anything at all. */
export const ANY: Part = { raw: {}, path: [] };

/** One node of a schema with references, `allOf`, `anyOf` and `oneOf` worked in; what lies below is still as it was. */
export interface Flat {
  /** Undefined: any. */
  types?: Set<string>;
  values?: unknown[];
  properties: Map<string, Part>;
  required: Set<string>;
  /** Fields that are not listed: by this schema, any, or none. Undefined where nothing is said. */
  additional?: Part | boolean;
  items?: Part;
  bounds: Partial<Record<Bound, number>>;
  description: string[];
  default?: unknown;
  /** What else is said of it, in words. */
  words: string[];
}

export const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
export type Bound = (typeof BOUNDS)[number];

/** How much may be worked through, in parts of schemas; what is beyond is told to be there. Counted down. */
export interface WorkBudget {
  left: number;
}

/** References that lead to one another. */
const MAX_PATH = 24;
const MAX_TEXT = 1000;
/** Forms of a union that are told in words. */
const MAX_FORMS = 12;
/** Characters that count as one part. */
const TEXT_PART = 64;

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

type Node = Record<string, unknown>;

/** Works through the parts of one schema. */
export function createFlattener(root: unknown, budget: WorkBudget): (part: Part) => Flat {
  const spend = (value: unknown) => {
    budget.left -= Math.ceil((JSON.stringify(value) ?? '').length / TEXT_PART);
  };

  function flatten({ raw, path }: Part): Flat {
    if (raw === false) return { ...anything(), types: new Set() };
    if (!isRecord(raw)) return anything();
    budget.left -= 1;
    if (budget.left < 0) return { ...anything(), words: ['more than is shown here'] };
    let flat = toOwn(raw, path);
    if (typeof raw['$ref'] === 'string') flat = both(follow(raw['$ref'], path), flat);
    for (const part of listOf(raw['allOf'])) flat = both(flat, flatten({ raw: part, path }));
    for (const union of [raw['anyOf'], raw['oneOf']]) {
      const forms = listOf(union).map((form) => flatten({ raw: form, path }));
      if (forms.length > 0) flat = both(flat, either(forms));
    }
    return flat;
  }

  function follow(reference: string, path: readonly string[]): Flat {
    const target = resolvePointer(root, reference);
    const name = toBrief(reference.slice(reference.lastIndexOf('/') + 1), 60);
    if (target === undefined) return { ...anything(), words: [`described elsewhere as ${name}`] };
    if (!path.includes(reference) && path.length < MAX_PATH) {
      return flatten({ raw: target, path: [...path, reference] });
    }
    return { ...anything(), ...guessTypes(target), words: [`again ${name === '#' ? 'the whole' : name}`] };
  }

  function toOwn(raw: Node, path: readonly string[]): Flat {
    const flat = anything();
    const types = [raw['type']].flat().filter((type): type is string => TYPES.has(type as string));
    if (types.length > 0) flat.types = new Set(raw['nullable'] === true ? [...types, 'null'] : types);
    if ('const' in raw) flat.values = [raw['const']];
    else if (Array.isArray(raw['enum']) && raw['enum'].length > 0) flat.values = raw['enum'];
    if (flat.values !== undefined) {
      spend(flat.values);
      flat.types ??= new Set(flat.values.map(typeOf));
    }
    for (const [name, property] of Object.entries(isRecord(raw['properties']) ? raw['properties'] : {})) {
      flat.properties.set(name, { raw: property, path });
    }
    for (const name of listOf(raw['required'])) if (typeof name === 'string') flat.required.add(name);
    budget.left -= flat.properties.size + flat.required.size;
    const additional = raw['additionalProperties'];
    if (typeof additional === 'boolean') flat.additional = additional;
    else if (isRecord(additional)) flat.additional = { raw: additional, path };
    if (OPENING.some((keyword) => raw[keyword] !== undefined)) flat.additional = true;
    setItems(flat, raw, path);
    for (const bound of BOUNDS) {
      const limit = raw[bound];
      // The bounds of whole numbers in JSON tell a caller nothing.
      if (typeof limit !== 'number' || Math.abs(limit) >= Number.MAX_SAFE_INTEGER) continue;
      if (bound.endsWith('imum') || (Number.isSafeInteger(limit) && limit >= 0)) flat.bounds[bound] = limit;
    }
    const said = raw['description'] ?? raw['title'];
    if (typeof said === 'string' && said !== '') flat.description.push(said.slice(0, MAX_TEXT));
    if ('default' in raw) flat.default = raw['default'];
    for (const [keyword, toWords] of REMARKS) {
      if (raw[keyword] === undefined) continue;
      spend(raw[keyword]);
      const words = toWords(raw[keyword]);
      if (words !== undefined) flat.words.push(words);
    }
    return flat;
  }

  function setItems(flat: Flat, raw: Node, path: readonly string[]): void {
    const { items } = raw;
    const tuple = listOf(Array.isArray(items) ? items : raw['prefixItems']);
    const rest = Array.isArray(items) ? raw['additionalItems'] : items;
    const further = rest ?? (tuple.length > 0 ? {} : false);
    const parts = [...tuple, ...(further === false ? [] : [further])];
    if (parts.length === 0) return;
    flat.items = combine(
      'anyOf',
      parts.map((part) => ({ raw: part, path })),
    );
    if (tuple.length === 0) return;
    flat.words.push(`in this order: ${tuple.map((part) => toForm(flatten({ raw: part, path }))).join(', ')}`);
  }

  return flatten;
}

const anything = (): Flat => ({
  properties: new Map(),
  required: new Set(),
  bounds: {},
  description: [],
  words: [],
});

const isRecord = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** Of what is not looked into again. */
function guessTypes(target: unknown): { types?: Set<string> } {
  if (!isRecord(target)) return {};
  const { type } = target;
  if (typeof type === 'string' && TYPES.has(type)) return { types: new Set([type]) };
  return isRecord(target['properties']) ? { types: new Set(['object']) } : {};
}

/** Several schemas for one place. */
function combine(how: 'allOf' | 'anyOf', parts: readonly Part[]): Part {
  const raws = parts.flatMap(({ raw }) => (isMadeHere(raw, how) ? (raw[how] as unknown[]) : [raw]));
  const different = [...new Map(raws.map((raw) => [identityOf(raw), raw])).values()];
  const path = [...new Set(parts.flatMap((part) => part.path))];
  if (different.length === 1) return { raw: different[0], path };
  const raw = { [how]: different };
  made.add(raw);
  return { raw, path };
}

const made = new WeakSet<object>();
const isMadeHere = (raw: unknown, how: string): raw is Node => isRecord(raw) && made.has(raw) && how in raw;

/** Two references to one place are the same schema; of any number, so that they are told apart by looking once at each. */
const identityOf = (raw: unknown): unknown =>
  isRecord(raw) && typeof raw['$ref'] === 'string' && Object.keys(raw).length === 1 ? raw['$ref'] : raw;

const keyOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** What fits both. */
function both(a: Flat, b: Flat): Flat {
  const flat: Flat = {
    properties: new Map(a.properties),
    required: new Set([...a.required, ...b.required]),
    bounds: { ...a.bounds },
    description: [...new Set([...a.description, ...b.description])],
    words: [...new Set([...a.words, ...b.words])],
  };
  const types = narrow(a.types, b.types);
  if (types !== undefined) flat.types = types;
  if (a.values !== undefined && b.values !== undefined) {
    const keys = new Set(b.values.map(keyOf));
    flat.values = a.values.filter((value) => keys.has(keyOf(value)));
  } else if ((a.values ?? b.values) !== undefined) flat.values = a.values ?? b.values;
  for (const [name, part] of b.properties) {
    const other = a.properties.get(name);
    flat.properties.set(name, other === undefined ? part : combine('allOf', [other, part]));
  }
  const additional =
    a.additional === false || b.additional === false ? false : (a.additional ?? b.additional);
  if (additional !== undefined) flat.additional = additional;
  const items = [a.items, b.items].filter((part) => part !== undefined);
  if (items.length > 0) flat.items = combine('allOf', items);
  for (const bound of BOUNDS) {
    const limits = [a.bounds[bound], b.bounds[bound]].filter((limit) => limit !== undefined);
    if (limits.length > 0) flat.bounds[bound] = (bound.startsWith('min') ? Math.max : Math.min)(...limits);
  }
  const fallback = b.default === undefined ? a.default : b.default;
  if (fallback !== undefined) flat.default = fallback;
  return flat;
}

function narrow(a: Set<string> | undefined, b: Set<string> | undefined): Set<string> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const fits = (type: string, others: Set<string>) =>
    others.has(type) || (type === 'integer' && others.has('number'));
  return new Set([...[...a].filter((type) => fits(type, b)), ...[...b].filter((type) => fits(type, a))]);
}

const isOnlyNull = ({ types, values }: Flat): boolean =>
  (types?.size === 1 && types.has('null')) || (values?.length === 1 && values[0] === null);

const mayBeObject = ({ types }: Flat): boolean => types === undefined || types.has('object');

/** What fits one of several. What only one of them has may be there; what all of them ask for must be. */
function either(all: readonly Flat[]): Flat {
  const possible = all.filter(({ types }) => types?.size !== 0);
  const forms = possible.filter((form) => !isOnlyNull(form));
  const nullable = forms.length < possible.length;
  const [first] = forms;
  if (first === undefined) return { ...anything(), types: new Set(nullable ? ['null'] : []) };
  const flat = forms.length === 1 ? { ...first } : joined(forms);
  if (nullable && flat.types !== undefined) flat.types = new Set([...flat.types, 'null']);
  if (nullable && flat.values !== undefined) flat.values = [...flat.values, null];
  return flat;
}

/** What a form takes for a field that it does not list, where it says so. */
const toRest = ({ additional }: Flat): Part[] => {
  if (additional === true) return [ANY];
  return additional === undefined || additional === false ? [] : [additional];
};

function joined(forms: readonly Flat[]): Flat {
  const flat = anything();
  if (forms.every(({ types }) => types !== undefined)) {
    flat.types = new Set(forms.flatMap(({ types = [] }) => [...types]));
  }
  if (forms.every(({ values }) => values !== undefined)) {
    const values = new Map(forms.flatMap(({ values = [] }) => values.map((value) => [keyOf(value), value])));
    flat.values = [...values.values()];
  }
  const objects = forms.filter(mayBeObject);
  for (const name of new Set(objects.flatMap(({ properties }) => [...properties.keys()]))) {
    const parts = objects.flatMap((form) => form.properties.get(name) ?? toRest(form));
    flat.properties.set(name, combine('anyOf', parts));
  }
  const [one, ...others] = objects;
  for (const name of one?.required ?? []) {
    if (others.every(({ required }) => required.has(name))) flat.required.add(name);
  }
  if (objects.some(({ additional }) => additional !== undefined && additional !== false))
    flat.additional = true;
  const items = forms.flatMap((form) => form.items ?? (form.types?.has('array') ? ANY : []));
  if (items.length > 0) flat.items = combine('anyOf', items);
  const told = flat.values === undefined ? forms : forms.filter(({ description }) => description.length > 0);
  if (told.length > 0) {
    const more = told.length > MAX_FORMS ? ` | ${told.length - MAX_FORMS} more` : '';
    const shown = told.slice(0, MAX_FORMS).map(toForm).join(' | ');
    flat.words.push(`in one of these forms: ${shown}${more}`);
  }
  return flat;
}

/** A form in a few words: `{kind, size?}`, `list`, `text`. */
function toForm({ types, values, properties, required, description, words }: Flat): string {
  const said = description[0] ?? words[0];
  const more = said === undefined ? '' : ` (${toBrief(said, 80)})`;
  if (values !== undefined) {
    return `${values
      .slice(0, 10)
      .map((value) => toBrief(JSON.stringify(value), 40))
      .join(' or ')}${more}`;
  }
  const names = new Set([...properties.keys(), ...required]);
  if (names.size > 0) {
    const fields = [...names].slice(0, 20).map((name) => toBrief(name, 40) + (required.has(name) ? '' : '?'));
    return `{${fields.join(', ')}}${more}`;
  }
  return `${types === undefined ? 'any value' : [...types].map(toKindWord).join(' or ')}${more}`;
}
