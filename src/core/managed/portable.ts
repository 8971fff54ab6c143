import { findSchemaProblems } from '../schema-check.ts';
import type { JsonSchema } from '../spec.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import {
  ANY,
  BOUNDS,
  createFlattener,
  type Flat,
  type Part,
  typeOf,
  type WorkBudget,
} from './flatten-schema.ts';
import { isDeeper, MAX_NESTING } from './nesting.ts';
import { toBrief, toKindWord, toOneOf } from './schema-words.ts';

/** A server's schema in the shapes that every host accepts, or why there is none. */
export type PortableToolSchema =
  | {
      schema: JsonSchema;
      /** Fields of the root for which the server takes `null`. */
      clearable: string[];
    }
  | { leftOut: string };

/** Characters of a schema in JSON: all of it stands in the lists of hosts. */
const MAX_SCHEMA = 48 * 1024;
/** Levels that are written out: as many of these as fit. */
const DEPTHS = [1, 2, 3, 4, 6, 8, 12];
/** Of one schema, and of all of one server, in parts. */
const MAX_WORK = 5000;
const MAX_SERVER_WORK = 300_000;
const MAX_DESCRIPTION = 1000;
const MAX_DEFAULT = 200;
const MAX_ENUM = 500;

const NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;

/** Work that the schemas of one server may take together. */
export const toServerBudget = (): WorkBudget => ({ left: MAX_SERVER_WORK });

/**
 * Rewrites a server's schema for lists of tools. What hosts' shapes cannot say is said in words, and such places stay open: calls are
 * judged by the original.
 */
export function toPortableToolSchema(
  original: Record<string, unknown>,
  whole: WorkBudget = toServerBudget(),
): PortableToolSchema {
  if (isDeeper(original)) return { leftOut: `its input is nested deeper than ${MAX_NESTING} levels` };
  if (whole.left <= 0) return { leftOut: 'the tools of its server take too much work to describe' };
  const budget = { left: MAX_WORK };
  const flatten = createFlattener(original, budget);
  const root = flatten({ raw: original, path: ['#'] });
  const answer = refuseRoot(root) ?? writeRoot(root, flatten, budget);
  whole.left -= MAX_WORK - budget.left;
  return answer;
}

function refuseRoot(root: Flat): { leftOut: string } | undefined {
  if (root.types !== undefined && !root.types.has('object')) return { leftOut: 'its input is no object' };
  const odd = [...root.properties.keys(), ...root.required].find((name) => !NAME.test(name));
  if (odd === undefined) return undefined;
  return { leftOut: `its field ${toBrief(JSON.stringify(odd), 80)} has a name that hosts refuse` };
}

/** As deep as it fits: each try goes deeper than the one before, until nothing is cut, or it comes out too long. */
function writeRoot(root: Flat, flatten: (part: Part) => Flat, budget: WorkBudget): PortableToolSchema {
  const writer = createWriter(flatten);
  const clearable = [...root.properties].filter(([, part]) => takesNull(flatten(part))).map(([name]) => name);
  let best: JsonSchema | undefined;
  for (const depth of DEPTHS) {
    const written = writer.write(root, depth);
    const schema: JsonSchema = { ...written, properties: written.properties ?? {} };
    if (JSON.stringify(schema).length > MAX_SCHEMA || (budget.left < 0 && best !== undefined)) break;
    best = schema;
    if (!writer.hasCut()) break;
  }
  if (best === undefined) {
    return { leftOut: `its input takes more than ${MAX_SCHEMA / 1024} KiB to describe` };
  }
  const [problem] = findSchemaProblems(best);
  if (problem !== undefined) return { leftOut: `its input cannot be written for hosts (${problem})` };
  return { schema: best, clearable };
}

const takesNull = ({ types, values }: Flat): boolean =>
  (types?.has('null') ?? true) && (values?.includes(null) ?? true);

function createWriter(flatten: (part: Part) => Flat) {
  let cut = false;

  function write(part: Part, depth: number): JsonSchema {
    const flat = flatten(part);
    const type = toType(flat);
    if (type === 'object') return object(flat, depth);
    if (type === 'array') return array(flat, depth);
    return scalar(flat, type);
  }

  function object(flat: Flat, depth: number): JsonSchema {
    const names = new Set([...flat.properties.keys(), ...flat.required]);
    if (depth <= 0) {
      cut ||= names.size > 0 || typeof flat.additional === 'object';
      return described({ type: 'object' }, flat, toFields(names));
    }
    const fine = [...names].filter((name) => NAME.test(name) && flat.properties.get(name)?.raw !== false);
    const odd = [...names].filter((name) => !NAME.test(name));
    const properties = Object.fromEntries(
      fine.map((name) => [name, write(flat.properties.get(name) ?? ANY, depth - 1)]),
    );
    const required = fine.filter((name) => flat.required.has(name));
    const { additional } = flat;
    const rest =
      odd.length > 0 || additional === true
        ? true
        : typeof additional === 'object'
          ? write(additional, depth - 1)
          : undefined;
    const more =
      odd.length === 0
        ? []
        : [`also the fields ${odd.map((name) => toBrief(JSON.stringify(name), 60)).join(', ')}`];
    return described(
      {
        type: 'object',
        ...(fine.length === 0 ? {} : { properties }),
        ...(required.length === 0 ? {} : { required }),
        ...(rest === undefined ? {} : { additionalProperties: rest }),
      },
      flat,
      more,
    );
  }

  function array(flat: Flat, depth: number): JsonSchema {
    const items =
      flat.items === undefined ? described({ type: 'string' }, flatten(ANY)) : write(flat.items, depth - 1);
    return described({ type: 'array', items }, flat);
  }

  return {
    write(root: Flat, depth: number): JsonSchema {
      cut = false;
      return object(root, depth);
    },
    /** Whether the last one was deeper than it was to be. */
    hasCut: () => cut,
  };
}

function scalar(flat: Flat, type: NonNullable<JsonSchema['type']>): JsonSchema {
  const values = flat.values?.filter((value) => value !== null);
  const isPlain = (value: unknown) =>
    typeof value === 'string' && value !== '' && toVisibleText(value) === value;
  if (
    type === 'string' &&
    values !== undefined &&
    values.length <= MAX_ENUM &&
    values.length > 0 &&
    values.every(isPlain)
  ) {
    return described({ type, enum: values as string[] }, { ...flat, values: undefined });
  }
  return described({ type }, flat);
}

/** The one type that hosts are told. Texts go before others, since a host that is told of numbers alone turns a text into one. */
function toType({
  types,
  properties,
  required,
  additional,
  items,
  bounds,
}: Flat): NonNullable<JsonSchema['type']> {
  const given = [...(types ?? [])].filter((type) => type !== 'null');
  if (types === undefined) {
    if (properties.size > 0 || required.size > 0 || additional !== undefined) return 'object';
    if (items !== undefined || bounds.minItems !== undefined || bounds.maxItems !== undefined) return 'array';
    if (bounds.minimum !== undefined || bounds.maximum !== undefined) return 'number';
  }
  const known =
    given.includes('string') || given.length === 0
      ? 'string'
      : given.includes('number')
        ? 'number'
        : given[0];
  return known as NonNullable<JsonSchema['type']>;
}

const BOUNDED: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
};

/** Adds what the schema says of the node itself. */
function described(schema: JsonSchema, flat: Flat, more: readonly string[] = []): JsonSchema {
  const { type = 'string' } = schema;
  const bounds = BOUNDS.filter((bound) => BOUNDED[type]?.includes(bound) && flat.bounds[bound] !== undefined);
  const fallback = flat.default;
  const isPlain =
    (typeOf(fallback) === type || (type === 'number' && typeof fallback === 'number')) &&
    isPlainDefault(fallback);
  const words = [
    ...flat.words,
    ...(flat.values === undefined ? [] : [toOneOf(flat.values)]),
    ...toOtherTypes(flat, type),
    ...(fallback === undefined || isPlain
      ? []
      : [`default ${toBrief(JSON.stringify(fallback), MAX_DEFAULT)}`]),
    ...more,
  ];
  const said = flat.description.map((text) => toVisibleText(text.trim())).join(' ');
  const remarks = words.length === 0 ? '' : `(${words.join('; ')})`;
  const description = toShortText(`${said} ${remarks}`.trim(), MAX_DESCRIPTION);
  return {
    type,
    ...(description === '' ? {} : { description }),
    ...schema,
    ...Object.fromEntries(bounds.map((bound) => [bound, flat.bounds[bound]])),
    ...(isPlain ? { default: fallback } : {}),
  };
}

const isPlainDefault = (value: unknown): boolean =>
  typeof value === 'string' ? toBrief(value, MAX_DEFAULT) === value : typeof value !== 'object';

function toOtherTypes({ types, values }: Flat, type: string): string[] {
  if (values !== undefined) return [];
  if (types === undefined) return type === 'string' ? ['any JSON value'] : [];
  if (types.size === 0) return ['no value fits'];
  if (types.size === 1 && types.has('null')) return ['only null'];
  const others = [...types].filter((other) => other !== type && !(other === 'integer' && type === 'number'));
  return others.length === 0 ? [] : [`or ${others.map(toKindWord).join(' or ')}`];
}

const toFields = (names: ReadonlySet<string>): string[] =>
  names.size === 0 ? [] : [`fields ${[...names].map((name) => toBrief(name, 60)).join(', ')}`];
