import { describe, expect, it } from 'vitest';
import { toPortableToolSchema } from '../../../src/core/managed/portable.ts';
import { findSchemaProblems } from '../../../src/core/schema-check.ts';

type Schema = Record<string, unknown>;

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
    [
      'many places in a list',
      { type: 'object', properties: { f: { prefixItems: Array.from({ length: 80_000 }, () => ({})) } } },
    ],
    ['no schema', { properties: 5, required: 'x', anyOf: {}, allOf: [7, null], items: 3, enum: [] }],
  ])('%s', (_, schema) => {
    // Time of the processor: that of the wall is the machine's.
    const before = process.cpuUsage();
    const portable = toPortableToolSchema(schema);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
    if ('leftOut' in portable) return;
    expect(findSchemaProblems(portable.schema)).toEqual([]);
    expect(JSON.stringify(portable).length).toBeLessThan(100_000);
  });
});
