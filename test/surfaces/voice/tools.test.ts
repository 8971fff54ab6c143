import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../../src/app/registry.generated.ts';
import { createCatalog } from '../../../src/core/catalog.ts';
import type { CatalogAnswer } from '../../../src/core/feed.ts';
import { EMPTY_POLICY, type PolicyDocument, resolvePolicy } from '../../../src/core/policy.ts';
import type { ActionManifest, JsonSchema } from '../../../src/core/spec.ts';
import { toVoiceTool, toVoiceTools } from '../../../src/surfaces/voice/tools.ts';
import { toVendorSchema } from '../../../src/surfaces/voice/vendor-schema.ts';
import { VENDORS, VOICE_FORMATS, type VoiceFormat } from '../../../src/surfaces/voice/vendors.ts';

const { manifests } = createCatalog(registry);

const toCatalog = (rules: PolicyDocument['rules'] = {}, actions = manifests): CatalogAnswer => ({
  surface: 'voice',
  policyVersion: 1,
  backendVersion: '1',
  actions: actions
    .filter(({ surfaces }) => surfaces.voice !== undefined)
    .map((manifest) => ({
      ...manifest,
      policy: resolvePolicy({ ...EMPTY_POLICY, rules }, manifest, 'voice'),
    })),
});

// The vendors' shapes as they document them, written anew: the table under test is not asked.
const words = z.string().min(1).max(1024);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const limits = {
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
};
type Node = { properties?: Record<string, unknown> | undefined; required?: string[] | undefined };
const requiredExist = ({ properties = {}, required = [] }: Node) =>
  required.every((field) => field in properties) && new Set(required).size === required.length;

const openAiNode: z.ZodType = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(['object', 'array', 'string', 'number', 'integer', 'boolean']),
      description: z.string().optional(),
      properties: z.record(z.string(), openAiNode).optional(),
      required: z.array(z.string()).optional(),
      items: openAiNode.optional(),
      enum: z.array(z.string().min(1)).min(1).optional(),
      default: z.unknown().optional(),
      additionalProperties: openAiNode.optional(),
      ...limits,
    })
    .refine(requiredExist)
    .refine(({ type, items }) => type !== 'array' || items !== undefined),
);
const openAi = z.strictObject({
  type: z.literal('function'),
  name,
  description: words,
  parameters: openAiNode.refine((root) => (root as { type: string }).type === 'object'),
});

const geminiName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/);
const geminiNode: z.ZodType = z.lazy(() =>
  z.union([
    z
      .strictObject({
        type: z.literal('OBJECT'),
        description: z.string().optional(),
        properties: z.record(geminiName, geminiNode).refine((fields) => Object.keys(fields).length > 0),
        required: z.array(z.string()).optional(),
      })
      .refine(requiredExist),
    z.strictObject({
      type: z.literal('ARRAY'),
      description: z.string().optional(),
      items: geminiNode,
      minItems: limits.minItems,
      maxItems: limits.maxItems,
    }),
    z
      .strictObject({
        type: z.literal('STRING'),
        description: z.string().optional(),
        format: z.literal('enum').optional(),
        enum: z.array(z.string().min(1)).min(1).optional(),
        minLength: limits.minLength,
        maxLength: limits.maxLength,
      })
      .refine((node) => (node.format === undefined) === (node.enum === undefined)),
    z.strictObject({
      type: z.enum(['NUMBER', 'INTEGER', 'BOOLEAN']),
      description: z.string().optional(),
      minimum: limits.minimum,
      maximum: limits.maximum,
    }),
  ]),
);
const gemini = z.strictObject({
  name: geminiName,
  description: words,
  parameters: geminiNode.refine((root) => (root as { type: string }).type === 'OBJECT').optional(),
});

const elevenObject = () => ({
  type: z.literal('object'),
  properties: z.record(name, elevenNode).refine((fields) => Object.keys(fields).length > 0),
  required: z.array(z.string()).optional(),
});
const elevenNode: z.ZodType = z.lazy(() =>
  z.union([
    z.strictObject({ ...elevenObject(), description: z.string().min(1) }).refine(requiredExist),
    z.strictObject({ type: z.literal('array'), description: z.string().min(1), items: elevenNode }),
    z.strictObject({
      type: z.literal('string'),
      description: z.string().min(1),
      enum: z.array(z.string().min(1)).min(1).optional(),
    }),
    z.strictObject({ type: z.enum(['number', 'integer', 'boolean']), description: z.string().min(1) }),
  ]),
);
const eleven = z.strictObject({
  type: z.literal('client'),
  name,
  description: words,
  parameters: z
    .strictObject({ ...elevenObject(), description: z.string().optional() })
    .refine(requiredExist)
    .optional(),
  expects_response: z.literal(true),
  response_timeout_secs: z.int().min(1).max(120),
});

const SHAPES: Record<VoiceFormat, z.ZodType> = {
  'openai-realtime': openAi,
  elevenlabs: eleven,
  'gemini-live': gemini,
};
type Listed = { name: string; description: string; parameters?: JsonSchema };
const listOf = (format: VoiceFormat, catalog: CatalogAnswer): Listed[] => {
  const { tools } = toVoiceTools(catalog, format);
  if (format !== 'gemini-live') return tools as Listed[];
  expect(tools).toHaveLength(1);
  return (tools[0] as { functionDeclarations: Listed[] }).functionDeclarations;
};
const toListed = (manifest: ActionManifest) => ({
  name: manifest.toolName,
  summary: manifest.summary,
  inputSchema: { ...manifest.inputSchema, type: 'object' as const },
  entry: { ...manifest, policy: resolvePolicy(EMPTY_POLICY, manifest, 'voice') },
});

describe.each(VOICE_FORMATS)('tools for %s', (format) => {
  const vendor = VENDORS[format];

  it.each(manifests.map((manifest) => [manifest.id, manifest] as const))(
    '%s has its shape',
    (_, manifest) => {
      const tool = toVoiceTool(toListed(manifest), vendor);
      expect(SHAPES[format].safeParse(vendor.toTool(tool)).error?.issues).toBeUndefined();
      const fields = Object.keys(tool.parameters?.['properties'] ?? {});
      const own = Object.keys(manifest.inputSchema.properties ?? {});
      expect(own).not.toContain('confirmation');
      expect(fields).toEqual([...own, ...(manifest.effect === 'read' ? [] : ['confirmation'])]);
      if (fields.length > 0) expect(tool.parameters?.['required']).toEqual(manifest.inputSchema.required);
    },
  );

  it('by default are the few that find and call everything else', () => {
    const tools = listOf(format, toCatalog());
    expect(tools.map((tool) => tool.name)).toEqual([
      'action_execute',
      'action_options_resolve',
      'action_read',
      'action_spec_get',
      'action_spec_search',
    ]);
    expect(tools[0]!.description).toContain('Where it changes something, nothing is done at first');
    for (const tool of tools) expect(SHAPES[format].safeParse(tool).error?.issues).toBeUndefined();
    expect(JSON.stringify(tools).length).toBeLessThan(6000);
  });

  it('follow the policy, and stay few whatever it says', () => {
    const rules: PolicyDocument['rules'] = {
      'session.title.set': { voice: { exposure: 'direct' } },
      'session.message.*': { voice: { exposure: 'direct', approval: true } },
      'action.execute': { voice: { enabled: false } },
      'approval.*': { voice: { exposure: 'direct' } },
    };
    const tools = new Map(listOf(format, toCatalog(rules)).map((tool) => [tool.name, tool]));
    expect(tools.has('action_execute')).toBe(false);
    expect([...tools.keys()].filter((tool) => tool.startsWith('approval'))).toEqual([]);
    expect(tools.get('session_title_set')!.description).toContain('nothing is done at first');
    expect(tools.get('session_message_send')!.description).toContain('A person is asked in the inbox first');
    const families = new Set(manifests.map(({ id }) => `${id.split('.')[0]}.*`));
    const all = Object.fromEntries(
      [...families].map((family) => [family, { voice: { exposure: 'direct' as const } }]),
    );
    const { leftOut } = toVoiceTools(toCatalog(all), format);
    const listed = listOf(format, toCatalog(all));
    expect(listed).toHaveLength(20);
    expect(leftOut.length).toBeGreaterThan(3);
    expect(listed.map((tool) => tool.name).slice(0, 2)).toEqual(['action_execute', 'action_options_resolve']);
  });

  it('leave out what the vendor would refuse, so that one tool cannot take the list down', () => {
    const any = manifests.find(({ id }) => id.startsWith('session.'));
    const bad = (more: Partial<ActionManifest>) => ({
      ...any!,
      surfaces: { voice: { exposure: 'direct' as const } },
      ...more,
    });
    const catalog = toCatalog({}, [
      bad({ id: 'a.a', toolName: 'x'.repeat(65) }),
      bad({ id: 'a.b', toolName: 'fine' }),
      bad({
        id: 'a.c',
        toolName: 'odd',
        inputSchema: { type: 'object', properties: { 'a b': { type: 'string' } } },
      }),
    ]);
    expect(toVoiceTools(catalog, format).leftOut).toEqual(['x'.repeat(65), 'odd']);
    expect(listOf(format, catalog).map((tool) => tool.name)).toContain('fine');
  });
});

describe('a schema in the words of a vendor', () => {
  const odd: JsonSchema = {
    type: 'object',
    properties: {
      free: { type: 'object', properties: {}, description: 'Anything.' },
      named: { type: 'object', additionalProperties: { type: 'string' } },
      rows: {
        type: 'array',
        maxItems: 3,
        items: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
      },
      mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
    },
    required: ['mode'],
  };

  it('keeps all of it for one, and only what is known for the others', () => {
    expect(toVendorSchema(odd, VENDORS['openai-realtime'], 'x', true)).toEqual(odd);
    expect(toVendorSchema(odd, VENDORS['gemini-live'], 'x', true)).toEqual({
      type: 'OBJECT',
      properties: {
        free: { type: 'STRING', description: 'Anything. As JSON text.' },
        named: { type: 'STRING', description: 'An object. As JSON text.' },
        rows: {
          type: 'ARRAY',
          maxItems: 3,
          items: { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 1 } } },
        },
        mode: { type: 'STRING', enum: ['a', 'b'], format: 'enum' },
      },
      required: ['mode'],
    });
    expect(toVendorSchema(odd, VENDORS.elevenlabs, 'x', true)).toEqual({
      type: 'object',
      properties: {
        free: { type: 'string', description: 'Anything. As JSON text.' },
        named: { type: 'string', description: 'The named. As JSON text.' },
        rows: {
          type: 'array',
          description: 'The rows.',
          items: {
            type: 'object',
            description: 'The item.',
            properties: { n: { type: 'integer', description: 'The n.' } },
          },
        },
        mode: { type: 'string', description: 'The mode.', enum: ['a', 'b'] },
      },
      required: ['mode'],
    });
  });

  it('a format that is none is refused, naming the three', () => {
    for (const given of [undefined, '', 'alexa', 'OpenAI-Realtime']) {
      expect(() => toVoiceTools(toCatalog(), given)).toThrow(
        /must be one of openai-realtime, elevenlabs, gemini-live/,
      );
    }
  });
});
