import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { parseInput } from '../../src/core/input.ts';
import { findSchemaProblems } from '../../src/core/schema-check.ts';
import { listActionFiles } from '../../scripts/registry.ts';

const catalog = createCatalog(registry);
const each = catalog.actions.map((action) => [action.id, action] as const);

const isPlain = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every(isPlain)) ||
  (typeof value === 'object' &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).every(isPlain));

describe('catalog', () => {
  it('holds every file under actions/, under the id that its path gives', async () => {
    const files = await listActionFiles();
    expect(registry.map(({ id }) => id)).toEqual(files.map(({ id }) => id));
  });

  it('refuses two actions of one name', () => {
    expect(() => createCatalog([...registry, registry[0]!])).toThrow('two actions are called');
  });

  it('has at most 40 direct tools for hosts, aliases included', () => {
    const direct = catalog.manifests.filter(({ surfaces }) => surfaces.mcp?.exposure === 'direct');
    const aliases = direct.flatMap(({ aliases = [] }) => aliases.filter(({ tool }) => tool));
    expect(direct.length + aliases.length).toBeLessThanOrEqual(40);
    expect(direct.length).toBeGreaterThan(15);
  });

  it('never makes approval actions tools of their own', () => {
    const family = catalog.manifests.filter(({ id }) => id.startsWith('approval.'));
    expect(family).toHaveLength(8);
    for (const { surfaces } of family) {
      for (const surface of ['mcp', 'agent', 'voice'] as const) {
        expect(surfaces[surface]?.exposureLocked ?? true).toBe(true);
        expect(surfaces[surface]?.exposure ?? 'discoverable').toBe('discoverable');
      }
    }
  });
});

describe.each(each)('%s', (id, action) => {
  const manifest = catalog.manifest(id);

  it('is plain data but for its schemas and run', () => {
    const { input: _, output: __, run: ___, precondition: ____, ...data } = action;
    expect(isPlain(data)).toBe(true);
  });

  it('is named and described in the forms that hosts accept', () => {
    for (const name of [manifest.toolName, ...(action.aliases ?? []).map((alias) => alias.name)]) {
      expect(name).toMatch(/^[a-z][a-z0-9_]{0,39}$/);
    }
    expect(action.summary).toMatch(/^Use (to|when|before) .*\.$/);
    expect(action.summary).not.toContain('\n');
    expect(action.title['zh-CN']).toMatch(/\p{Script=Han}/u);
    expect(action.keywords.en.length).toBeGreaterThan(2);
    expect(action.keywords['zh-CN'].join('')).toMatch(/\p{Script=Han}/u);
  });

  it('has schemas that no host rejects', () => {
    expect(findSchemaProblems(manifest.inputSchema)).toEqual([]);
    expect(findSchemaProblems(manifest.outputSchema)).toEqual([]);
  });

  it('describes every field', () => {
    expect(undescribed(manifest.inputSchema)).toEqual([]);
    expect(undescribed(manifest.outputSchema)).toEqual([]);
  });

  it('names only fields, codes and actions that exist', () => {
    const fields = Object.keys(manifest.inputSchema.properties ?? {});
    const named = [
      ...Object.keys(action.hints ?? {}),
      ...(action.positionals ?? []),
      ...(action.clearable ?? []),
      ...(action.secrets ?? []),
      ...(action.aliases ?? []).flatMap((alias) => alias.omit ?? []),
      ...(action.session === 'none' ? [] : [action.session.field]),
    ];
    expect(named.filter((field) => !fields.includes(field))).toEqual([]);
    expect(action.errors.filter((code) => !(code in ERRORS))).toEqual([]);
    for (const { options } of Object.values(action.hints ?? {})) {
      if (options !== undefined) expect(catalog.find(options.action).action.effect).toBe('read');
    }
  });

  it('shows people columns of its first list, by fields that its rows have', () => {
    const lists = Object.entries(action.output.shape).filter(([, field]) => rowOf(field) !== undefined);
    if (action.columns === undefined) return;
    expect(lists.length).toBeGreaterThan(0);
    const row = rowOf(lists[0]![1])!;
    const named = action.columns.flatMap((column) => (typeof column === 'string' ? [column] : column.of));
    expect(named.filter((field) => !hasField(row, field.split('.')))).toEqual([]);
    const wholes = action.columns.map((column) => typeof column === 'object' && column.whole === true);
    expect(wholes.indexOf(true)).toBe(wholes.includes(true) ? wholes.length - 1 : -1);
  });

  it('has examples that its schema takes', () => {
    expect(action.examples.length).toBeGreaterThan(0);
    for (const example of action.examples) {
      expect(() => parseInput(action, manifest, example.input)).not.toThrow();
    }
  });
});

type RawSchema = { [key: string]: RawSchema } & { type?: string; properties?: Record<string, RawSchema> };
const toRaw = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'output' }) as unknown as RawSchema;

/** Schema of the rows, if a field is a list of objects. */
function rowOf(field: z.ZodType): RawSchema | undefined {
  const { type, items } = toRaw(field);
  return type === 'array' && items?.type === 'object' ? items : undefined;
}

/** An open object may have any field. */
function hasField({ properties = {}, additionalProperties }: RawSchema, [name, ...rest]: string[]): boolean {
  const inner = properties[name!];
  if (inner === undefined) return (additionalProperties as unknown) !== false;
  return rest.length === 0 || hasField(inner, rest);
}

/** Paths of properties without a description. */
function undescribed(schema: (typeof catalog.manifests)[number]['inputSchema'], path = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${path}${name}`]),
    ...undescribed(field, `${path}${name}.`),
    ...(field.items === undefined ? [] : undescribed(field.items, `${path}${name}[].`)),
  ]);
}
