import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../../src/core/call.ts';
import { findSchemaProblems } from '../../../src/core/schema-check.ts';
import type { ActionManifest, JsonSchema } from '../../../src/core/spec.ts';
import { findPortabilityProblems } from '../../../src/surfaces/mcp/tool-check.ts';
import type { McpTool } from '../../../src/surfaces/mcp/tools.ts';
import { MANIFESTS, toManifest } from './helpers/manifests.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();

async function listed(manifests: ActionManifest[], rules = {}) {
  const backend = await setup.backend(manifests);
  backend.policy = { version: 1, rules };
  const host = await setup.host();
  await host.initialize();
  const { result } = await host.request('tools/list');
  const tools = result.tools as McpTool[];
  return { tools, names: tools.map(({ name }) => name), result, host };
}

describe('the list', () => {
  test('is one page in a fixed order, each tool in shapes that every host takes', async () => {
    const { tools, result, names } = await listed(MANIFESTS.toReversed());
    expect(Object.keys(result)).toEqual(['tools']);
    expect(names).toEqual([
      'action_execute',
      'action_spec_search',
      'session_list',
      'session_message_send',
      'session_title_set',
      'change_title',
    ]);
    expect(tools.flatMap(findPortabilityProblems)).toEqual([]);
  });

  test('tells what a tool does to the world', async () => {
    const { tools } = await listed(MANIFESTS);
    const of = (name: string) => tools.find((tool) => tool.name === name);
    expect(of('session_list')).toMatchObject({
      title: 'Title of session.list',
      description: 'Does session.list.',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
    expect(of('action_execute')?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
  });

  test('has an alias as a tool of its own, without the fields that it does not take', async () => {
    const { tools } = await listed(MANIFESTS);
    const alias = tools.find(({ name }) => name === 'change_title');
    expect(alias?.description).toBe('Renames the default session.');
    expect(alias?.inputSchema).toEqual({
      type: 'object',
      properties: { title: { type: 'string', description: 'The new title.' } },
      required: ['title'],
    });
  });

  test('obeys the policy: disabled, discoverable, asking', async () => {
    const { names, tools } = await listed(MANIFESTS, {
      'session.list': { mcp: { exposure: 'discoverable' } },
      'session.title.set': { mcp: { enabled: false } },
      'session.message.send': { mcp: { approval: true } },
      'shell.only': { mcp: { enabled: true, exposure: 'direct' } },
      'approval.request.decide': { mcp: { exposure: 'direct' } },
    });
    expect(names).toEqual(['action_execute', 'action_spec_search', 'session_message_send']);
    expect(tools[2]?.description).toMatch(/approval_request_created/);
  });

  test('leaves out what some host would reject, says so, and keeps the rest', async () => {
    const bad = { type: 'object', anyOf: [{ type: 'object' }], properties: {} } as unknown as JsonSchema;
    const { names, host } = await listed([
      toManifest('a.fine'),
      toManifest('b.bad', { inputSchema: bad }),
      toManifest('c.name', { toolName: 'Bad-Name' }),
      toManifest('d.long', { toolName: `d${'x'.repeat(40)}` }),
      toManifest('e.fine'),
    ]);
    expect(names).toEqual(['a_fine', 'e_fine']);
    expect(host.stderr()).toMatch(/left out.*b_bad.*anyOf/);
    expect(host.stderr()).toMatch(/left out.*Bad-Name/);
    const called = await host.request('tools/call', { name: 'b_bad' });
    expect(called.result.isError).toBeUndefined();
  });

  test('ends at 40 tools, and says which ones it left out', async () => {
    const many = Array.from({ length: 43 }, (_, i) => toManifest(`t.n${String(i).padStart(2, '0')}`));
    const { names, host } = await listed(many);
    expect(names).toHaveLength(40);
    expect(names.at(-1)).toBe('t_n39');
    for (const name of ['t_n40', 't_n41', 't_n42']) expect(host.stderr()).toContain(name);
  });
});

describe('listed output schemas', () => {
  const clash = toManifest('x.clash', {
    outputSchema: {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['queued'], description: 'State.' },
        summary: { type: 'integer', description: 'Count.' },
        error: { type: 'string', description: 'Text.' },
        items: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      required: ['status', 'items'],
    },
  });
  const ANSWERS: Envelope[] = [
    { status: 'ok', output: { status: 'queued', items: ['a'], more: { deep: 1 } } },
    {
      status: 'approval_required',
      approval: {
        kind: 'approval_request_created',
        artifactId: 'id',
        actionId: 'x.clash',
        summary: 'Clash',
        status: 'pending',
        expiresAt: '2030-01-01T00:00:00Z',
        decideWith: 'a',
        waitWith: 'b',
        count: 1,
        remaining: 19,
      },
    },
    { status: 'error', error: { code: 'conflict', message: 'No.', retryable: false } },
  ];

  test.each([
    ['v2', () => new Client2({ name: 'h', version: '1' }), Stdio2],
    ['v1', () => new Client1({ name: 'h', version: '1' }), Stdio1],
  ])(
    'let outputs, approvals and errors pass the checks of the official client %s',
    async (_, create, Stdio) => {
      const backend = await setup.backend([clash]);
      const { command, args } = await setup.command();
      const client = create() as Client2;
      setup.onEnd(() => client.close());
      await client.connect(new Stdio({ command, args, stderr: 'ignore' }));
      const { tools } = await client.listTools();
      expect(tools[0]?.outputSchema).toEqual({
        type: 'object',
        properties: {
          status: { type: 'string' },
          items: { type: 'array', items: { type: 'string' }, minItems: 1 },
        },
      });
      for (const answer of ANSWERS) {
        backend.answer = () => answer;
        const result = await client.callTool({ name: 'x_clash', arguments: {} });
        expect(result.isError === true).toBe(answer.status === 'error');
        expect(result.structuredContent).toBeDefined();
      }
      backend.answer = () => ({ status: 'ok', output: { items: 'not a list' } });
      await expect(client.callTool({ name: 'x_clash', arguments: {} })).rejects.toThrow(/schema/);
    },
  );
});

describe('schema problems', () => {
  const fine: JsonSchema = {
    type: 'object',
    properties: {
      text: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Text.' },
      list: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 9 },
      free: { type: 'object' },
      map: { type: 'object', additionalProperties: { type: 'number' } },
      nested: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
    },
    required: ['text'],
  };

  test('are none in the shapes of this product', () => {
    expect(findSchemaProblems(fine)).toEqual([]);
  });

  const inside = (schema: unknown) => ({ type: 'object', properties: { at: schema } });
  test.each([
    ['a root that is no object', { type: 'string' }, ': the root'],
    ['a root without properties', { type: 'object' }, ': the root'],
    ['anyOf at the root', { ...fine, anyOf: [] }, '.anyOf'],
    ['oneOf at the root', { ...fine, oneOf: [] }, '.oneOf'],
    ['allOf at the root', { ...fine, allOf: [] }, '.allOf'],
    ['not at the root', { ...fine, not: {} }, '.not'],
    ['if at the root', { ...fine, if: {} }, '.if'],
    ['$schema', { ...fine, $schema: 'x' }, '.$schema'],
    ['$defs', { ...fine, $defs: {} }, '.$defs'],
    ['$ref', inside({ $ref: '#' }), '.properties.at.$ref'],
    ['a union', inside({ anyOf: [{ type: 'string' }] }), '.properties.at.anyOf'],
    ['a list of types', inside({ type: ['string', 'null'] }), '.properties.at.type'],
    ['no type', inside({ description: 'x' }), '.properties.at.type'],
    ['the type null', inside({ type: 'null' }), '.properties.at.type'],
    ['a bare true', inside(true), '.properties.at: is not a schema'],
    ['an array without items', inside({ type: 'array' }), '.properties.at.items'],
    ['a tuple', inside({ type: 'array', prefixItems: [{}] }), '.properties.at.prefixItems'],
    ['a list of item schemas', inside({ type: 'array', items: [{}] }), '.properties.at.items'],
    ['untyped items', inside({ type: 'array', items: {} }), '.properties.at.items.type'],
    ['an enum of numbers', inside({ type: 'integer', enum: [1] }), '.properties.at.enum'],
    ['an empty enum', inside({ type: 'string', enum: [] }), '.properties.at.enum'],
    ['an empty text in an enum', inside({ type: 'string', enum: [''] }), '.properties.at.enum'],
    ['const', inside({ type: 'string', const: 'x' }), '.properties.at.const'],
    ['a pattern', inside({ type: 'string', pattern: '.*' }), '.properties.at.pattern'],
    ['a format', inside({ type: 'string', format: 'uuid' }), '.properties.at.format'],
    ['a closed object', { ...fine, additionalProperties: false }, '.additionalProperties'],
    ['an untyped map', inside({ type: 'object', additionalProperties: {} }), '.additionalProperties.type'],
    ['a bad property name', { type: 'object', properties: { 'a b': { type: 'string' } } }, '.properties.a b'],
    ['a required field that is none', { ...fine, required: ['gone'] }, '.required'],
  ])('are found: %s', (_, schema, told) => {
    const problems = findSchemaProblems(schema as JsonSchema);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).toContain(told);
  });
});
