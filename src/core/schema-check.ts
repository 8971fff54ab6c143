import type { JsonSchema } from './spec.ts';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean'];

/** Every keyword that all known hosts take. What is not here is refused by one, or costs tokens and tells nothing. */
const KEYWORDS = new Set([
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'additionalProperties',
]);

const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * What some host would reject of a tool's schema, each as a path and a reason (`.items.enum: ...`); empty when none would.
 * One bad schema can make a model's API refuse the whole tool list. Source: behaviour seen of real hosts.
 * @param path where the schema stands; empty for the root, which must be an object with `properties`
 */
export function findSchemaProblems(schema: JsonSchema, path = ''): string[] {
  const node: unknown = schema;
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return [`${path}: is not a schema`];
  const problems = Object.keys(node)
    .filter((keyword) => !KEYWORDS.has(keyword))
    .map((keyword) => `${path}.${keyword}: no host-safe keyword`);
  if (typeof schema.type !== 'string' || !TYPES.includes(schema.type)) {
    problems.push(`${path}.type: must be one of ${TYPES.join(', ')}`);
  }
  if (path === '' && (schema.type !== 'object' || schema.properties === undefined)) {
    problems.push(`${path}: the root must be an object with properties`);
  }
  problems.push(...findObjectProblems(schema, path), ...findEnumProblems(schema, path));
  if (schema.items !== undefined) problems.push(...findSchemaProblems(schema.items, `${path}.items`));
  else if (schema.type === 'array') problems.push(`${path}.items: an array must have them`);
  return problems;
}

function findObjectProblems(
  { properties, required, additionalProperties }: JsonSchema,
  path: string,
): string[] {
  const problems: string[] = [];
  for (const [name, property] of Object.entries(properties ?? {})) {
    const at = `${path}.properties.${name}`;
    if (!PROPERTY_NAME.test(name)) problems.push(`${at}: the name does not match ${PROPERTY_NAME.source}`);
    problems.push(...findSchemaProblems(property, at));
  }
  for (const name of required ?? []) {
    if (!Object.hasOwn(properties ?? {}, name)) problems.push(`${path}.required: ${name} is no property`);
  }
  if (additionalProperties === false) problems.push(`${path}.additionalProperties: must not be closed`);
  if (typeof additionalProperties === 'object') {
    problems.push(...findSchemaProblems(additionalProperties, `${path}.additionalProperties`));
  }
  return problems;
}

function findEnumProblems(schema: JsonSchema, path: string): string[] {
  if (schema.enum === undefined) return [];
  const values: unknown = schema.enum;
  const fine =
    schema.type === 'string' &&
    Array.isArray(values) &&
    values.length > 0 &&
    values.every((value) => typeof value === 'string' && value !== '');
  return fine ? [] : [`${path}.enum: must list non-empty strings, on a string`];
}
