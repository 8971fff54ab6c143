import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createCatalog } from '../../src/core/catalog.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import { parseInput } from '../../src/core/input.ts';
import type { ActionSpec, AnyAction } from '../../src/core/spec.ts';

const make = (changes: Partial<ActionSpec> = {}) => {
  const action = {
    id: 'thing.change',
    title: { en: 'Change', 'zh-CN': '修改' },
    summary: 'Use to change.',
    effect: 'write',
    idempotent: true,
    openWorld: false,
    surfaces: {},
    approvals: 'default',
    session: 'none',
    keywords: { en: [], 'zh-CN': [] },
    examples: [],
    errors: [],
    clearable: ['model'],
    secrets: ['pin'],
    input: z.object({
      name: z.string().optional(),
      count: z.int().min(1).max(9).optional(),
      ratio: z.number().optional(),
      tags: z.array(z.string()).optional(),
      sizes: z.array(z.int()).optional(),
      dryRun: z.boolean().optional(),
      model: z.string().nullish(),
      pin: z.string().max(4).optional(),
      extra: z.looseObject({}).optional(),
      nested: z.object({ depth: z.int() }).optional(),
    }),
    output: z.object({}),
    run: async () => ({}),
    ...changes,
  } as unknown as AnyAction;
  return (input: unknown) => parseInput(action, createCatalog([action]).manifest(action.id), input);
};

const parse = make();
const parseRead = make({ effect: 'read' });

function issuesOf(run: () => unknown): { path: string; message: string; received?: string }[] {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(KaiwuError);
    expect((error as KaiwuError).code).toBe('invalid_input');
    return (error as KaiwuError).details?.['issues'] as ReturnType<typeof issuesOf>;
  }
  throw new Error('was not refused');
}

describe('arguments as real hosts send them', () => {
  it.each([undefined, null, {}, '{}'])('%j is no input at all', (raw) => {
    expect(parse(raw)).toEqual({});
  });

  it.each(['text', 5, [], true])('%j is not an object', (raw) => {
    expect(issuesOf(() => parse(raw))[0]).toMatchObject({ path: '', message: 'must be an object' });
  });

  it('null for an optional field is absent, unless null clears it', () => {
    expect(parse({ name: null, count: null, model: null })).toEqual({ model: null });
  });

  it.each([
    ['5', 5],
    [5, 5],
    ['-3', undefined],
    ['5.5', undefined],
    ['0x10', undefined],
    ['1e3', undefined],
    ['', undefined],
    [' 5', undefined],
    ['five', undefined],
    [true, undefined],
  ])('%j for an integer', (raw, value) => {
    if (value !== undefined) expect(parse({ count: raw })).toEqual({ count: value });
    else
      expect(issuesOf(() => parse({ count: raw }))[0]).toMatchObject({
        path: 'count',
        received: JSON.stringify(raw) === '"-3"' ? '-3' : JSON.stringify(raw),
      });
  });

  it('a text of digits stays a text, and "true" is no boolean', () => {
    expect(parse({ name: '123' })).toEqual({ name: '123' });
    expect(parse({ ratio: '1.5' })).toEqual({ ratio: 1.5 });
    expect(issuesOf(() => parse({ dryRun: 'true' }))[0]?.path).toBe('dryRun');
  });

  it('a list or an object in JSON text is what it holds', () => {
    expect(
      parse({ tags: '["a","b"]', sizes: '["1",2]', extra: '{"x":null}', nested: '{"depth":"3"}' }),
    ).toEqual({
      tags: ['a', 'b'],
      sizes: [1, 2],
      extra: { x: null },
      nested: { depth: 3 },
    });
    expect(issuesOf(() => parse({ tags: 'a,b' }))[0]?.path).toBe('tags');
  });

  it('keys that hosts add are dropped; others are refused where something changes', () => {
    expect(parse({ task_progress: 'x', wait_for_previous: true, name: 'n' })).toEqual({ name: 'n' });
    expect(issuesOf(() => parse({ colour: 'red' }))[0]?.path).toBe('colour');
    expect(parseRead({ colour: 'red' })).toEqual({});
  });

  it('a misspelt key never runs for real, and the right one is named', () => {
    for (const run of [parse, parseRead]) {
      for (const key of ['dryrun', 'dry_run', 'dryRum']) {
        expect(issuesOf(() => run({ [key]: true }))[0]).toEqual({
          path: key,
          message: 'is not a field; did you mean dryRun?',
        });
      }
    }
  });

  it('keys of every object are no fields', () => {
    for (const key of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(issuesOf(() => parse({ [key]: 1 }))[0]?.path).toBe(key);
    }
    expect(issuesOf(() => parse(JSON.parse('{"__proto__": {"name": 1}}')))[0]?.path).toBe('__proto__');
  });

  it('tells all that is wrong, in one answer, without a secret', () => {
    const issues = issuesOf(() => parse({ count: 'five', name: 7, pin: 'hunter2-is-long' }));
    expect(issues.map(({ path }) => path).sort()).toEqual(['count', 'name', 'pin']);
    expect(JSON.stringify(issues)).not.toContain('hunter2');
  });
});
