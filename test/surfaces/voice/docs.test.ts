import { expect, it } from 'vitest';
import { registry } from '../../../src/app/registry.generated.ts';
import type { Confirmation } from '../../../src/core/call.ts';
import { createCatalog } from '../../../src/core/catalog.ts';
import { fromJsonText, parseInput } from '../../../src/core/input.ts';
import { EMPTY_POLICY, resolvePolicy } from '../../../src/core/policy.ts';
import { toWords } from '../../../src/core/spoken.ts';
import { toVoiceTools } from '../../../src/surfaces/voice/tools.ts';
import { VOICE_FORMATS, type VoiceFormat } from '../../../src/surfaces/voice/vendors.ts';
import { docBlocks } from '../../helpers/doc-blocks.ts';

const blocks = docBlocks('voice.md');
const catalog = createCatalog(registry);
const { action } = catalog.find('session.title.set');
const manifest = catalog.manifest(action.id);
const rules = { [action.id]: { voice: { exposure: 'direct' as const } } };

// oxlint-disable-next-line typescript/no-explicit-any -- each vendor has its own shape
type Json = any;
/** Where each vendor's session has its tools, and where a call has name and arguments. */
const PLACES: Record<
  VoiceFormat,
  {
    tools(block: Json): unknown;
    first(tools: Json): unknown;
    call(block: Json): [name: string, input: unknown];
  }
> = {
  'openai-realtime': {
    tools: ({ session }) => session.tools,
    first: (tools) => tools.slice(0, 1),
    call: ({ item }) => [item.name, item.arguments],
  },
  elevenlabs: {
    tools: (tool) => [tool],
    first: (tools) => tools.slice(0, 1),
    call: ({ client_tool_call: made }) => [made.tool_name, made.parameters],
  },
  'gemini-live': {
    tools: ({ setup }) => setup.tools,
    first: ([{ functionDeclarations }]) => [{ functionDeclarations: functionDeclarations.slice(0, 1) }],
    call: ({ toolCall }) => [toolCall.functionCalls[0].name, toolCall.functionCalls[0].args],
  },
};

it.each(VOICE_FORMATS)('the page shows the tools and a call of %s as they are', (format) => {
  const policy = resolvePolicy({ ...EMPTY_POLICY, rules }, manifest, 'voice');
  const { tools } = toVoiceTools(
    { surface: 'voice', policyVersion: 1, backendVersion: '1', actions: [{ ...manifest, policy }] },
    format,
  );
  const place = PLACES[format];
  expect(place.tools(blocks.get(`${format} tool`))).toEqual(place.first(tools));
  const [name, input] = place.call(blocks.get(`${format} call`));
  expect(catalog.find(name).action.id).toBe(action.id);
  const body = blocks.get('body 1') as { input: unknown };
  expect(fromJsonText(input, 'object')).toEqual(body.input);
  expect(parseInput(action, manifest, input)).toEqual(body.input);
});

it('the page says what is said', () => {
  const { input } = blocks.get('body 1') as { input: Record<string, unknown> };
  const { confirmation } = blocks.get('answer 1') as { confirmation: Confirmation };
  expect(confirmation.words).toBe(
    toWords(manifest, input, { title: 'Fix flaky tests', directory: '/x' }, 'en'),
  );
  expect(blocks.get('body 2')).toEqual({
    ...(blocks.get('body 1') as object),
    confirmation: confirmation.code,
  });
});
