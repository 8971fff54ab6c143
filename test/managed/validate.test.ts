import { describe, expect, it } from 'vitest';
import { createValidator, createValidators } from '../../src/managed/validate.ts';

const judge = (schema: Record<string, unknown>, args: Record<string, unknown>) =>
  createValidator(schema)(args).map(({ path, message }) => `${path.join('.')}: ${message}`);

const fields = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});

describe('arguments judged by a schema', () => {
  it.each<[object, Record<string, unknown>, string[]]>([
    [fields({ a: { type: 'integer' } }), { a: 5 }, []],
    [fields({ a: { type: 'integer' } }), { a: 5.5 }, ['a: must be a whole number']],
    [fields({ a: { type: ['string', 'null'] } }), { a: 1 }, ['a: must be a text or null']],
    [fields({}, { required: ['a'] }), {}, ['a: is required']],
    [fields({}, { additionalProperties: false }), { a: 1 }, ['a: is not a field']],
    [fields({ a: { enum: ['x', 'y'] } }), { a: 'z' }, ['a: must be one of x, y']],
    [fields({ a: { minLength: 2 } }), { a: '' }, ['a: must have at least 2 characters']],
    [fields({ a: { pattern: '^\\u00e9\\d+$' } }), { a: 'é5' }, []],
    [fields({ a: { pattern: '^a$' } }), { a: 'b' }, ['a: must match ^a$']],
    [fields({ 'x~y/z': { type: 'string' } }), { 'x~y/z': 1 }, ['x~y/z: must be a text']],
    [fields({ l: { items: { type: 'string' } } }), { l: ['a', 1] }, ['l.1: must be a text']],
    [
      fields({ u: { anyOf: [{ type: 'string' }, { type: 'object', properties: { k: { const: 'z' } } }] } }),
      { u: { k: 'y' } },
      ['u: has none of the forms that fit (u must be a text; u.k must be z)'],
    ],
    [fields({ a: { const: 'x\u202e' } }), { a: 'x' }, ['a: must be x\\u202e']],
    // Of draft-07: by its name, and by what only that has.
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        ...fields({ t: { items: [{ type: 'string' }] } }),
      },
      { t: [1] },
      ['t.0: must be a text'],
    ],
    [
      { definitions: { s: { type: 'string' } }, ...fields({ a: { $ref: '#/definitions/s' } }) },
      { a: 1 },
      ['a: must be a text'],
    ],
    // Of 2020-12.
    [fields({ t: { prefixItems: [{ type: 'string' }] } }), { t: [1] }, ['t.0: must be a text']],
    [fields({ a: {} }, { dependentRequired: { a: ['b'] } }), { a: 1 }, ['b: is required beside a']],
  ])('%j of %j: %j', (schema, args, issues) => {
    expect(judge(schema as Record<string, unknown>, args)).toEqual(issues);
  });

  it('references by name of the schema itself are followed', () => {
    const $defs = {
      n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } }, additionalProperties: false },
    };
    expect(judge(fields({ n: { $ref: '#/$defs/n' } }, { $defs }), { n: { next: { nxt: 1 } } })).toEqual([
      'n.next.nxt: is not a field',
    ]);
  });

  it('at most twenty are told', () => {
    const list = Array.from({ length: 5000 }, () => 1);
    expect(judge(fields({ l: { items: { type: 'string' } } }), { l: list })).toHaveLength(20);
  });

  it('each tool has one that is kept', () => {
    const validatorOf = createValidators();
    const definition = { name: 'x', inputSchema: fields({ a: { type: 'string' } }) };
    expect(validatorOf(definition)).toBe(validatorOf({ ...definition }));
  });
});

describe('schemas that say what cannot be understood', () => {
  it.each<[string, object]>([
    ['a reference to elsewhere', { $ref: 'http://127.0.0.1:1/x.json', type: 'object' }],
    ['a reference to nowhere', fields({ a: { $ref: '#/$defs/none' } })],
    [
      'a circle',
      { type: 'object', $defs: { a: { $ref: '#/$defs/a' } }, properties: { a: { $ref: '#/$defs/a' } } },
    ],
    ['a name that is taken', { $id: 'https://json-schema.org/draft/2020-12/schema', ...fields({}) }],
    ['an answer that comes later', { $async: true, ...fields({}) }],
    ['parts that are no schemas', { properties: 5, required: 'a', allOf: {}, items: 'x' }],
    ['an unknown type', fields({ a: { type: 'strnig' } })],
    ['a pattern that is none', fields({ a: { pattern: '(' } })],
    ['a pattern that looks ahead', fields({ a: { pattern: '^(?=x)x$' } })],
    ['null without a type', fields({ a: { nullable: true } })],
  ])('%s: the rest holds', (_, schema) => {
    expect(judge(schema as Record<string, unknown>, { a: 'y' })).toEqual([]);
  });

  it('data that only looks like a schema stays as it is', () => {
    const choice = { $ref: 'x', $id: 'y' };
    expect(judge(fields({ a: { enum: [choice] }, $id: { type: 'string' } }), { a: choice, $id: 5 })).toEqual([
      '$id: must be a text',
    ]);
  });
});

describe('schemas that are made to do harm', () => {
  const within = (ms: number, work: () => void) => {
    const before = performance.now();
    work();
    expect(performance.now() - before).toBeLessThan(ms);
  };
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `a${i}`,
      { anyOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
    ]),
  );
  const doubling = fields({ u: { $ref: '#/$defs/a0' } }, { $defs: { ...chain, a40: { const: 'x' } } });

  it('forms that double: refused in time, and soon without a try', () => {
    const validate = createValidator(doubling);
    within(10_000, () => {
      for (let i = 0; i < 50; i++) expect(validate({ u: 1 })[0]?.message).toContain('too long');
    });
  });

  it.each<[string, object, Record<string, unknown>]>([
    ['a pattern that goes back and back', fields({ a: { pattern: '^(a+)+$' } }), { a: `${'a'.repeat(60)}b` }],
    ['a pattern over a long text', fields({ a: { pattern: '^(\\w*)*x$' } }), { a: 'a'.repeat(300_000) }],
    [
      'entries compared with one another',
      fields({ a: { uniqueItems: true } }),
      { a: Array.from({ length: 60_000 }, (_, i) => ({ i })) },
    ],
    [
      'very many fields',
      fields(
        Object.fromEntries(
          Array.from({ length: 9000 }, (_, i) => [`p${i}`, { minLength: 1, type: 'string' }]),
        ),
      ),
      { a: 1 },
    ],
    [
      'a part said very often',
      fields(Object.fromEntries(Array.from({ length: 800 }, (_, i) => [`p${i}`, { $ref: '#/$defs/big' }])), {
        $defs: {
          big: fields(
            Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`q${i}`, { type: 'string' }])),
          ),
        },
      }),
      { a: 1 },
    ],
  ])('%s', (_, schema, args) => {
    const issues: string[] = [];
    within(5000, () => issues.push(...judge(schema as Record<string, unknown>, args)));
    expect(issues.length).toBeLessThanOrEqual(20);
  });

  it('much of it, with many forms: neither time nor memory goes, and others are served after', () => {
    const forms = Array.from({ length: 60 }, (_, i) => ({ type: 'string', const: `form ${i}` }));
    const judge = createValidator({
      properties: { list: { items: { anyOf: forms } }, n: { type: 'integer' } },
    });
    const list = Array.from({ length: 300_000 }, () => 'form 59');
    const before = performance.now();
    for (let i = 0; i < 4; i++) expect(judge({ list }).length).toBeLessThan(2);
    expect(judge({ list: list.map(() => 1) })).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(5000);
    expect(judge({ list: ['form 1'], n: 1 })).toEqual([]);
    expect(judge({ n: 'x'.repeat(2_000_000) })).toMatchObject([{ path: ['n'] }]);
  });

  it('great depth, of the schema and of what is sent', () => {
    const nest = (depth: number, around: (inner: object) => object, inner: object): object => {
      let value = inner;
      for (let i = 0; i < depth; i++) value = around(value);
      return value;
    };
    const deep = nest(100_000, (inner) => ({ properties: { a: inner } }), {}) as Record<string, unknown>;
    expect(judge(deep, { a: 1 })).toEqual([]);
    const $defs = { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } };
    const args = { n: nest(200_000, (inner) => ({ n: inner }), {}) };
    expect(judge(fields({ n: { $ref: '#/$defs/n' } }, { $defs }), args)).toEqual([': is nested too deeply']);
  });
});
