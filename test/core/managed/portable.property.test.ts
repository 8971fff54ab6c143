import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KaiwuError } from '../../../src/core/errors.ts';
import { parseInput } from '../../../src/core/input.ts';
import { toPortableToolSchema } from '../../../src/core/managed/portable.ts';
import { findSchemaProblems } from '../../../src/core/schema-check.ts';
import type { ActionManifest, AnyAction } from '../../../src/core/spec.ts';
import { createValidator } from '../../../src/managed/validate.ts';

type Schema = Record<string, unknown>;

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
