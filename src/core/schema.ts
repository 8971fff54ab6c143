import * as z from 'zod';
import type { JsonSchema } from './spec.ts';

/** Zod's bound for safe integers says nothing to a caller and costs tokens in every tool list. */
const SAFE = Number.MAX_SAFE_INTEGER;

/** Keys that some host rejects or that only cost tokens. */
const DROPPED = ['$schema', 'pattern', 'format', 'propertyNames', 'id', 'title', 'contentEncoding'] as const;

type RawSchema = Record<string, unknown>;

/**
 * JSON Schema of a Zod object in the shapes that every host accepts: no references, no unions but "or null", one type a
 * node, open objects. A shape that cannot be written so makes the build fail, not a host's tool list.
 * @param io `input` describes what a caller may send (defaults are optional), `output` what it gets
 */
export function toPortableSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const raw = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'throw',
    override: ({ jsonSchema }) => makePortable(jsonSchema as RawSchema),
  });
  const portable = raw as JsonSchema;
  delete (raw as RawSchema)['$schema'];
  portable.properties ??= {};
  return portable;
}

function makePortable(node: RawSchema): void {
  unwrapNullable(node);
  for (const key of DROPPED) delete node[key];
  if (node['maximum'] === SAFE) delete node['maximum'];
  if (node['minimum'] === -SAFE) delete node['minimum'];
  if (node['type'] === 'object') {
    const additional = node['additionalProperties'];
    // A record of anything: say only that it is an object.
    if (additional === false || isEmpty(additional)) delete node['additionalProperties'];
  }
}

/** `null` is told in words ("null clears it"); a list of types is what hosts choke on. */
function unwrapNullable(node: RawSchema): void {
  const options = node['anyOf'];
  if (!Array.isArray(options) || options.length !== 2) return;
  const other = (options as RawSchema[]).filter((option) => option['type'] !== 'null');
  if (other.length !== 1) return;
  delete node['anyOf'];
  Object.assign(node, { ...other[0], ...node });
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
