import { describe, expect, it } from 'vitest';
import { toPortableToolSchema } from '../../../src/core/managed/portable.ts';
import { findSchemaProblems } from '../../../src/core/schema-check.ts';
import type { JsonSchema } from '../../../src/core/spec.ts';

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

/** Objects inside of one another. */
function nested(depth: number): Schema {
  let schema: Schema = { type: 'object' };
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { n: schema } };
  return schema;
}
