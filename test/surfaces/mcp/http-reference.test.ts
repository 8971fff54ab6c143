import { createMcpHandler, ResourceNotFoundError, Server, type Tool } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { HOST_SHAPES } from '../../../src/surfaces/mcp/host-methods.ts';
import { HOST_METHODS } from '../../../src/core/spec.ts';
import { answerHost } from './helpers/host-answers.ts';
import { startHttpWorld } from './helpers/http-world.ts';

/**
 * The protocol over HTTP is written by hand, since the SDK's takes more memory than a daemon may grow by. Here the same
 * requests go to both, and both must answer alike.
 */

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'reference', version: '1' },
};
const TOOL: Tool = { name: 'session_list', inputSchema: { type: 'object' } };
const REPLY = {
  content: [{ type: 'text' as const, text: '{"done":true}' }],
  structuredContent: { done: true },
};

const KEEP = { ttlMs: 5000, cacheScope: 'private' as const };

const reference = createMcpHandler(
  () => {
    const server = new Server(
      { name: 'kaiwu', title: 'Kaiwu', version: '0.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true },
          prompts: {},
          completions: {},
        },
        instructions: 'Test.',
        cacheHints: {
          'tools/list': KEEP,
          'resources/list': KEEP,
          'resources/templates/list': KEEP,
          'prompts/list': KEEP,
          'resources/read': { ...KEEP, ttlMs: 0 },
        },
      },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: [TOOL] }));
    server.setRequestHandler('tools/call', async () => REPLY);
    for (const method of HOST_METHODS) {
      server.setRequestHandler(method as 'resources/read', async ({ params }) => {
        const { toInput, toResult } = HOST_SHAPES[method];
        const answer = answerHost({
          actionId: `host.${method.replaceAll('/', '.')}`,
          input: toInput({ ...params }),
        });
        if (answer.status !== 'ok') throw new ResourceNotFoundError(params.uri);
        return toResult(answer.output) as never;
      });
    }
    return server;
  },
  { onerror: () => undefined },
);

type Message = Record<string, unknown> & { method: string; params?: Record<string, unknown> };
const plain = (method: string, params?: Record<string, unknown>): Message => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  ...(params === undefined ? {} : { params }),
});
const stateless = (method: string, params: Record<string, unknown> = {}) =>
  plain(method, { ...params, _meta: META });
const nameOf = (method: string, params: Message['params']) => {
  const name = method === 'resources/read' ? params?.uri : params?.name;
  return typeof name === 'string' ? { 'mcp-name': name } : undefined;
};
const headersOf = ({ method, params }: Message): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...nameOf(method, params),
});

const discover = stateless('server/discover');
const list = stateless('tools/list');
const call = stateless('tools/call', { name: TOOL.name, arguments: {} });
const future = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };

const read = stateless('resources/read', { uri: 'kaiwu://prompts/identity' });
const HOST_REQUESTS = [
  plain('resources/list'),
  plain('prompts/list'),
  plain('resources/read', { uri: 'kaiwu://prompts/identity' }),
  stateless('resources/list'),
  stateless('resources/templates/list'),
  stateless('prompts/list'),
  stateless('prompts/get', { name: 'plan', arguments: { what: 'x' } }),
  stateless('completion/complete', {
    ref: { type: 'ref/prompt', name: 'plan' },
    argument: { name: 'what', value: '' },
  }),
  read,
  stateless('resources/read', { uri: 'kaiwu://nowhere' }),
];

const REQUESTS: [name: string, message: Message, headers?: Record<string, string>][] = [
  [
    'initialize',
    plain('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }),
  ],
  [
    'initialize of an unknown version',
    plain('initialize', {
      protocolVersion: '1.0',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }),
  ],
  ['ping', plain('ping')],
  ['tools/list', plain('tools/list')],
  ['tools/call', plain('tools/call', { name: TOOL.name })],
  ['tools/call of nothing', plain('tools/call', {})],
  ['an unknown method', plain('nope')],
  ['an unknown version header', plain('tools/list'), { 'mcp-protocol-version': '1999-01-01' }],
  ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['an answer', { jsonrpc: '2.0', id: 1, result: {} } as unknown as Message],
  ['server/discover', discover, headersOf(discover)],
  ...HOST_REQUESTS.map((message): [string, Message, Record<string, string>] => [
    `${'_meta' in (message.params ?? {}) ? 'stateless ' : ''}${message.method} ${JSON.stringify(message.params?.['uri'] ?? '')}`,
    message,
    '_meta' in (message.params ?? {}) ? headersOf(message) : {},
  ]),
  ['a read with the address of another in its header', read, { ...headersOf(read), 'mcp-name': 'other' }],
  ['stateless tools/list', list, headersOf(list)],
  ['stateless tools/call', call, headersOf(call)],
  ['stateless without headers', list],
  ['stateless without a method header', list, { 'mcp-protocol-version': '2026-07-28' }],
  ['stateless with another method header', list, headersOf(call)],
  ['stateless with another name header', call, { ...headersOf(call), 'mcp-name': 'other' }],
  ['a stateless header alone', plain('tools/list'), headersOf(list)],
  ['stateless ping', stateless('ping'), headersOf(stateless('ping'))],
  ['a revision of tomorrow', plain('server/discover', { _meta: future })],
  [
    'a subscription to nothing',
    stateless('subscriptions/listen'),
    headersOf(stateless('subscriptions/listen')),
  ],
  [
    'a stateless notification',
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: META } },
    headersOf(stateless('notifications/cancelled')),
  ],
];

// oxlint-disable-next-line typescript/no-explicit-any -- the shape of any answer
function toShape(status: number, text: string): any {
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  if (data === '') return { status };
  const { jsonrpc, id, result, error } = JSON.parse(data);
  if (result?.tools !== undefined) result.tools = 'tools';
  // Words are each one's own; what they are about is not.
  const known = error?.data === undefined ? {} : { data: Object.keys(error.data).sort() };
  return { status, jsonrpc, id, result, ...(error === undefined ? {} : { code: error.code, ...known }) };
}

test.each(REQUESTS)('%s', async (_, message, headers = {}) => {
  const world = await startHttpWorld();
  world.backend.answer = answerHost;
  const body = JSON.stringify(message);
  const ours = await world.raw(body, headers);
  const accept = 'application/json, text/event-stream';
  const theirs = await reference.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, ...headers },
      body,
    }),
  );
  const expected = toShape(theirs.status, await theirs.text());
  // Where it could name the request, ours does.
  if (expected.id === null) expected.id = message.id;
  expect(toShape(ours.status, ours.text)).toEqual(expected);
});
