import { expect, describe, test } from 'vitest';
import { answerHost, refuse, SECRET, SESSION } from './helpers/host-answers.ts';
import { type HttpWorld, startHttpWorld } from './helpers/http-world.ts';
import { type Host, type Message, modernMeta } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();

/** A host of one generation at one door, reduced to what it asks and hears. */
type Ask = (method: string, params?: Record<string, unknown>) => Promise<Message>;

const overPipes = (host: Host, meta?: object): Ask => {
  const extra = meta === undefined ? {} : { _meta: meta };
  return (method, params) => host.request(method, { ...params, ...extra });
};

const overHttp = (world: HttpWorld, meta?: object): Ask => {
  let label: string | undefined;
  const headersOf = (method: string, params: Record<string, unknown>) => ({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': (method === 'resources/read' ? params['uri'] : params['name']) as string | undefined,
  });
  return async (method, params = {}) => {
    if (meta !== undefined) {
      const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
      return (await world.raw(body, headersOf(method, params))).json;
    }
    if (label === undefined) {
      const shake = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'Test Host' } };
      const { headers } = await world.raw({ jsonrpc: '2.0', id: 0, method: 'initialize', params: shake });
      label = String(headers['mcp-session-id']);
    }
    return (await world.raw({ jsonrpc: '2.0', id: 1, method, params }, { 'mcp-session-id': label })).json;
  };
};

const DOORS = [
  ['stdio, handshake', 'handshake', 'stdio'],
  ['stdio, stateless', 'stateless', 'stdio'],
  ['HTTP, handshake', 'handshake', 'http'],
  ['HTTP, stateless', 'stateless', 'http'],
] as const;

async function open(era: 'handshake' | 'stateless', door: 'stdio' | 'http') {
  const meta = era === 'stateless' ? modernMeta('Test Host') : undefined;
  if (door === 'http') {
    const world = await startHttpWorld();
    world.backend.answer = answerHost;
    return { ask: overHttp(world, meta), backend: world.backend };
  }
  const backend = await setup.backend();
  backend.answer = answerHost;
  const host = await setup.host();
  if (meta === undefined) await host.initialize();
  return { ask: overPipes(host, meta), backend };
}

describe.each(DOORS)('%s', (_, era, door) => {
  const notThere = era === 'handshake' ? -32002 : -32602;

  test('lists and reads', async () => {
    const { ask, backend } = await open(era, door);
    expect((await ask('resources/list')).result).toMatchObject({ resources: [{ uri: 'kaiwu://catalog' }] });
    expect((await ask('resources/templates/list')).result).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'kaiwu://sessions/{sessionId}' }],
    });
    const uri = 'kaiwu://prompts/identity';
    const read = await ask('resources/read', { uri });
    // What is invisible is shown.
    const contents = [{ uri, mimeType: 'text/markdown', text: '# Who\\u202e' }];
    expect(read.result).toMatchObject({ contents });
    if (era === 'stateless') expect(read.result).toMatchObject({ resultType: 'complete', ttlMs: 0 });
    const session = await ask('resources/read', { uri: SESSION });
    const text: string = session.result.contents[0].text;
    expect(text).toContain('T\\u200b\\udb40\\udc41');
    expect(JSON.parse(text)).toEqual({ sessionId: 'sess_1', title: 'T\u200b\u{e0041}' });
    expect(backend.calls.map(({ context }) => context)).toEqual(
      backend.calls.map(() => expect.objectContaining({ surface: 'mcp', client: 'mcp:test-host' })),
    );
  });

  test('prompts and completion', async () => {
    const { ask } = await open(era, door);
    expect((await ask('prompts/list')).result.prompts).toEqual([
      {
        name: 'plan',
        title: 'Plan',
        description: 'Plans.',
        arguments: [{ name: 'what', description: 'Which.', required: true }],
      },
    ]);
    const got = await ask('prompts/get', { name: 'plan', arguments: { what: 'x' } });
    expect(got.result).toMatchObject({
      description: 'Plans.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Plan {"what":"x"}' } }],
    });
    expect((await ask('prompts/get', { name: 'other' })).error).toMatchObject({
      code: -32602,
      data: { code: 'not_found' },
    });
    const completed = await ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'kaiwu://sessions/{sessionId}' },
      argument: { name: 'modelId', value: 'gp' },
      context: { arguments: { agentId: 'codex' } },
    });
    const input = { argument: 'modelId', value: 'gp', given: { agentId: 'codex' } };
    expect(completed.result.completion).toEqual({
      values: [JSON.stringify(input)],
      total: 1,
      hasMore: false,
    });
  });

  test('errors', async () => {
    const { ask, backend } = await open(era, door);
    for (const uri of ['kaiwu://nowhere', 'https://example.com', 'kaiwu://sessions/sess_none']) {
      const { error } = await ask('resources/read', { uri });
      expect(error).toEqual({
        code: notThere,
        message: expect.stringMatching(/^Refused with .* Do otherwise\.$/),
        data: { uri },
      });
    }
    for (const uri of ['', ' ']) {
      if (door === 'http' && era === 'stateless' && uri === ' ') continue; // No header can hold it.
      expect((await ask('resources/read', { uri })).error).toMatchObject({ code: -32602 });
    }
    expect((await ask('resources/read', {})).error).toMatchObject({ code: -32602 });
    expect((await ask('resources/read', { uri: SECRET })).error).toEqual({
      code: -32000,
      message: 'Off by policy. Do otherwise.',
      data: { code: 'action_disabled', hint: 'Do otherwise.', retryable: false },
    });
    expect((await ask('resources/list', { cursor: 'x' })).error).toMatchObject({ code: -32602 });
    backend.answer = () => refuse('internal');
    expect((await ask('prompts/list')).error).toMatchObject({ code: -32603, data: { code: 'internal' } });
    backend.answer = () => ({
      status: 'approval_required',
      approval: { kind: 'approval_request_created', artifactId: 'a-1' } as never,
    });
    expect((await ask('prompts/list')).error).toMatchObject({ code: -32000, data: { artifactId: 'a-1' } });
  });

  test('without a backend', async () => {
    const { ask, backend } = await open(era, door);
    await backend.stop();
    expect((await ask('resources/read', { uri: SESSION })).error).toMatchObject({
      code: -32000,
      data: { code: 'backend_unreachable', retryable: true },
    });
  });
});

test('lists hold what is built in while the backend is out of reach', async () => {
  const backend = await setup.backend();
  await backend.stop();
  const builtinAnswers = {
    'resources/list': { resources: [{ uri: 'kaiwu://prompts/identity', name: 'identity' }] },
    'resources/templates/list': { templates: [{ uriTemplate: 't', name: 'session' }] },
    'prompts/list': { prompts: [] },
  };
  const host = await setup.host({ builtinAnswers });
  await host.initialize();
  expect((await host.request('resources/list')).result).toEqual(builtinAnswers['resources/list']);
  expect((await host.request('resources/templates/list')).result.resourceTemplates).toHaveLength(1);
  expect((await host.request('prompts/list')).result).toEqual({ prompts: [] });
  expect(host.noise()).toEqual([]);
});

test('what the policy refuses is not answered from what is built in', async () => {
  const backend = await setup.backend();
  backend.answer = () => refuse('action_disabled');
  const host = await setup.host({ builtinAnswers: { 'prompts/list': { prompts: [] } } });
  await host.initialize();
  expect((await host.request('prompts/list')).error).toMatchObject({
    code: -32000,
    data: { code: 'action_disabled' },
  });
});
