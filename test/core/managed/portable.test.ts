import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KaiwuError } from '../../../src/core/errors.ts';
import { parseInput } from '../../../src/core/input.ts';
import { toPortableToolSchema } from '../../../src/core/managed/portable.ts';
import { findSchemaProblems } from '../../../src/core/schema-check.ts';
import type { ActionManifest, AnyAction, JsonSchema } from '../../../src/core/spec.ts';
import { createValidator } from '../../../src/managed/validate.ts';

type Schema = Record<string, unknown>;

function write(schema: Schema): { schema: JsonSchema; clearable: string[] } {
  const portable = toPortableToolSchema(schema);
  if ('leftOut' in portable) throw new Error(portable.leftOut);
  expect(findSchemaProblems(portable.schema)).toEqual([]);
  return portable;
}

/** What becomes of one field. */
const field = (schema: unknown, more: Schema = {}) =>
  write({ type: 'object', properties: { f: schema }, ...more }).schema.properties?.['f'];

describe('one field in the shapes of hosts', () => {
  it.each<[string, unknown, JsonSchema]>([
    [
      'plain',
      { type: 'string', description: 'Where.', minLength: 1 },
      { type: 'string', description: 'Where.', minLength: 1 },
    ],
    [
      'or null',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      { type: 'string', description: '(or null)' },
    ],
    ['list of types', { type: ['integer', 'null'] }, { type: 'integer', description: '(or null)' }],
    [
      'text among types',
      { type: ['integer', 'string'] },
      { type: 'string', description: '(or whole number)' },
    ],
    ['const', { const: 'x' }, { type: 'string', enum: ['x'] }],
    ['consts', { oneOf: [{ const: 'a' }, { const: 'b' }] }, { type: 'string', enum: ['a', 'b'] }],
    ['enum with null', { enum: ['a', null] }, { type: 'string', enum: ['a'], description: '(or null)' }],
    ['enum of numbers', { enum: [1, 2] }, { type: 'integer', description: '(one of 1, 2)' }],
    ['enum of an empty text', { enum: ['', 'a'] }, { type: 'string', description: '(one of "", "a")' }],
    [
      'enum that looks like another',
      { enum: ['a\u200b'] },
      { type: 'string', description: '(always "a\\u200b")' },
    ],
    [
      'list of anything',
      { type: 'array' },
      { type: 'array', items: { type: 'string', description: '(any JSON value)' } },
    ],
    ['anything', {}, { type: 'string', description: '(any JSON value)' }],
    [
      'map',
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    ['closed', { type: 'object', properties: {}, additionalProperties: false }, { type: 'object' }],
    ['nullable', { type: 'string', nullable: true }, { type: 'string', description: '(or null)' }],
    [
      'pattern and format',
      { type: 'string', pattern: '^a', format: 'date' },
      { type: 'string', description: '(format date; matches ^a)' },
    ],
    [
      'bounds that exclude',
      { type: 'integer', exclusiveMinimum: 0 },
      { type: 'integer', description: '(more than 0)' },
    ],
    ['defaults', { type: 'string', default: 'x' }, { type: 'string', default: 'x' }],
    [
      'defaults that are no plain value',
      { type: 'object', default: {} },
      { type: 'object', description: '(default {})' },
    ],
    [
      'invisible words',
      { type: 'string', description: 'a\u202Eb' },
      { type: 'string', description: 'a\\u202eb' },
    ],
    [
      'parts of all',
      {
        allOf: [
          { type: 'number', minimum: 1 },
          { maximum: 5, minimum: 2 },
        ],
      },
      { type: 'number', minimum: 2, maximum: 5 },
    ],
  ])('%s', (_, schema, portable) => {
    expect(field(schema)).toEqual(portable);
  });

  it('references are followed, and what leads back to itself is cut', () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } },
    };
    expect(field({ $ref: '#/$defs/node', description: 'The first.' }, { $defs: { node } })).toEqual({
      type: 'object',
      description: 'The first.',
      properties: { value: { type: 'string' }, next: { type: 'object', description: '(again node)' } },
    });
    expect(field({ $ref: '#' })).toEqual({
      type: 'object',
      description: '(again the whole)',
    });
    expect(field({ $ref: 'https://example.com/x' })?.description).toContain('described elsewhere');
    expect(field({ $ref: '#/$defs/a~1b%20c' }, { $defs: { 'a/b c': { type: 'integer' } } })).toEqual({
      type: 'integer',
    });
  });

  it('is written out to the ground, through lists and maps', () => {
    const deep = {
      type: 'object',
      properties: { c: { type: 'object', properties: { d: { type: 'string' } } } },
    };
    const schema = {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: 'array', items: deep } },
    };
    expect(field(schema)).toEqual(schema);
    expect(field({ ...nested(10) })).toEqual(nested(10));
    expect(JSON.stringify(field({ ...nested(30) }))).toContain('fields n');
  });

  it('a list with a form for each place', () => {
    expect(field({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] })?.description).toBe(
      '(in this order: text, number)',
    );
  });

  it('fields with names that hosts refuse are told in words', () => {
    const portable = field({
      type: 'object',
      properties: { 'a b': { type: 'string' }, ok: { type: 'string' } },
    });
    expect(portable).toEqual({
      type: 'object',
      description: '(also the fields "a b")',
      properties: { ok: { type: 'string' } },
      additionalProperties: true,
    });
  });
});

describe('the root', () => {
  it('forms become one object: what only some have may be there, what all ask for must be', () => {
    const form = (kind: string, more: Schema) => ({
      properties: { kind: { const: kind }, ...more },
      required: ['kind', ...Object.keys(more)],
    });
    const { schema } = write({
      type: 'object',
      oneOf: [form('a', { x: { type: 'string' } }), form('b', { y: { type: 'integer' } })],
    });
    expect(schema).toEqual({
      type: 'object',
      description: '(in one of these forms: {kind, x} | {kind, y})',
      properties: {
        kind: { type: 'string', enum: ['a', 'b'] },
        x: { type: 'string' },
        y: { type: 'integer' },
      },
      required: ['kind'],
    });
  });

  it.each<[string, Schema]>([
    ['no object', { type: 'string' }],
    ['an odd name', { type: 'object', properties: { 'a b': {} } }],
    ['an odd name that is asked for', { type: 'object', required: ['a b'] }],
    [
      'a name of the language',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as Schema,
    ],
  ])('%s is left out', (_, schema) => {
    expect(toPortableToolSchema(schema)).toEqual({ leftOut: expect.any(String) as string });
  });

  it('says which fields null clears', () => {
    const properties = {
      a: { type: ['string', 'null'] },
      b: { type: 'string' },
      c: {},
      d: { enum: ['x', null] },
    };
    expect(write({ type: 'object', properties }).clearable).toEqual(['a', 'c', 'd']);
  });
});

/** `a0` to `a<count>`, each made of the next. */
const chain = (count: number, link: (next: object) => unknown, end: unknown): Schema => {
  const $defs = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`a${i}`, link({ $ref: `#/$defs/a${i + 1}` })]),
  );
  return {
    type: 'object',
    properties: { f: { $ref: '#/$defs/a0' } },
    $defs: { ...$defs, [`a${count}`]: end },
  };
};

/** Objects inside of one another. */
function nested(depth: number): Schema {
  let schema: Schema = { type: 'object' };
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { n: schema } };
  return schema;
}

describe('schemas that are made to do harm', () => {
  it.each<[string, Schema]>([
    ['branches that double', chain(60, (next) => ({ type: 'object', properties: { x: next, y: next } }), {})],
    ['forms that double', chain(60, (next) => ({ anyOf: [next, { allOf: [next] }] }), { type: 'string' })],
    ['a long way', chain(5000, (next) => next, { type: 'string' })],
    [
      'a circle',
      {
        type: 'object',
        properties: { f: { $ref: '#/$defs/a' } },
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      },
    ],
    ['a circle of parts', { type: 'object', allOf: [{ $ref: '#' }] }],
    ['great depth', nested(50_000)],
    [
      'many fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`p${i}`, { type: 'string' }])),
      },
    ],
    [
      'a long list said often',
      chain(
        1,
        () => ({
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 900 }, (_, i) => [`p${i}`, { $ref: '#/$defs/e' }]),
          ),
        }),
        {},
      ),
    ],
    ['no schema', { properties: 5, required: 'x', anyOf: {}, allOf: [7, null], items: 3, enum: [] }],
  ])('%s', (_, schema) => {
    const before = performance.now();
    const portable = toPortableToolSchema(schema);
    expect(performance.now() - before).toBeLessThan(3000);
    if ('leftOut' in portable) return;
    expect(findSchemaProblems(portable.schema)).toEqual([]);
    expect(JSON.stringify(portable).length).toBeLessThan(100_000);
  });
});

const keys = fc.constantFrom('alpha', 'bravado', 'charlie_three', 'delta.four');
const leaf = fc.oneof(
  fc.constantFrom<Schema[]>(
    {},
    { type: 'string' },
    { type: 'integer', minimum: 0 },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ),
  fc.constantFrom<Schema[]>(
    { const: 1 },
    { enum: ['a', null, 3] },
    { enum: ['a', 'b'] },
    { type: ['string', 'null'] },
    { type: ['integer', 'string'] },
  ),
  fc.constantFrom<Schema[]>(
    { $ref: '#' },
    { $ref: '#/$defs/shared' },
    { $ref: '#/nowhere' },
    { type: 'array' },
    { type: 'object' },
  ),
);
const { node, object } = fc.letrec<{ node: Schema; object: Schema }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('node') }),
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ anyOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
    tie('object'),
  ),
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
      required: fc.uniqueArray(keys, { maxLength: 1 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('node')),
    },
    { requiredKeys: ['type', 'properties', 'additionalProperties'] },
  ),
}));
const root = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(keys, node, { maxKeys: 4 }),
  anyOf: fc.array(object, { maxLength: 2 }),
  $defs: fc.record({ shared: object }),
});
const scalar = fc.constantFrom<unknown[]>('a', 'b', '5', '', 3, 1, 2.5, true, null);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(keys, scalar, { maxKeys: 2 }),
);
const args = fc.dictionary(keys, value, { maxKeys: 3 });

describe('whatever a schema says', () => {
  it('hosts take what is made of it, and arguments that it takes go through as they are', () => {
    let fits = 0;
    fc.assert(
      fc.property(root, fc.array(args, { minLength: 5, maxLength: 5 }), (schema, calls) => {
        const portable = toPortableToolSchema(schema);
        if ('leftOut' in portable) return;
        expect(findSchemaProblems(portable.schema)).toEqual([]);
        const validate = createValidator(schema);
        const { schema: inputSchema, clearable } = portable;
        const manifest = {
          id: 'x',
          effect: 'write',
          openInput: true,
          inputSchema,
          clearable,
        } as ActionManifest;
        const action = { input: z.looseObject({}) } as AnyAction;
        for (const given of calls.filter((each) => validate(each).length === 0)) {
          fits++;
          expect(parse(action, manifest, given)).toEqual(given);
        }
      }),
      { numRuns: 400 },
    );
    expect(fits).toBeGreaterThan(50);
  });
});

function parse(action: AnyAction, manifest: ActionManifest, given: Schema): unknown {
  try {
    return parseInput(action, manifest, given);
  } catch (error) {
    return (error as KaiwuError).message;
  }
}
