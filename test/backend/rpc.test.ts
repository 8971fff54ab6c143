import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { send } from './helpers/raw-http.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

interface Tool {
  tool_id: string;
  route: string;
  enabled: boolean;
  input_schema: { properties: Record<string, unknown> };
}

async function ask(body: unknown, bearer = token) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { authorization: `Bearer ${bearer}` };
  const { status, json } = await send(world.url, {
    method: 'POST',
    path: '/rpc',
    headers,
    chunks: [new TextEncoder().encode(text)],
  });
  return { status, answer: json };
}

const request = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  ...(params && { params }),
});

describe('the registry over JSON-RPC', () => {
  it('lists every tool once, sorted, with its own keys in snake case and schemas as they are', async () => {
    const { answer } = await ask(request('kaiwu.tool_registry_list'));
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 7 });
    const tools: Tool[] = answer.result.tools;
    const ids = tools.map(({ tool_id }) => tool_id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids).toContain('session.title.set');
    const one = tools.find(({ tool_id }) => tool_id === 'session.title.set');
    expect(one).toMatchObject({ route: 'native', enabled: true, allowed_agents: ['*'], health: 'ok' });
    expect(Object.keys(one!.input_schema.properties)).toContain('sessionId');
  });

  it('gets one tool by its id and names the nearest of one that is not there', async () => {
    const got = await ask(request('kaiwu.tool_registry_get', { tool_id: 'session.list' }));
    expect(got.answer.result.tool).toMatchObject({ tool_id: 'session.list', tool_name: 'session_list' });
    const { error } = (await ask(request('kaiwu.tool_registry_get', { tool_id: 'session.lst' }))).answer;
    expect(error).toMatchObject({ code: -32602, data: { code: 'unknown_action' } });
    expect(error.data.hint).toContain('session.list');
  });

  it('follows the policy and changes nothing itself', async () => {
    await world.call(token, 'policy.set', { rules: { 'session.archive': { mcp: { enabled: false } } } });
    const { answer } = await ask(request('kaiwu.tool_registry_get', { tool_id: 'session.archive' }));
    expect(answer.result.tool).toMatchObject({ enabled: false });
    expect(answer.result.tool.reason).toContain('disabled_by_policy');
    // It is no second way to call a tool.
    expect((await ask(request('kaiwu.session_list'))).answer.error).toMatchObject({ code: -32601 });
    expect((await ask(request('kaiwu.tool_registry_clear'))).answer.error).toMatchObject({ code: -32601 });
  });

  it('takes a token or nothing, and says what is wrong with a request', async () => {
    expect((await ask(request('kaiwu.tool_registry_list'), 'kw_nobody')).status).toBe(401);
    for (const bad of ['not json', [], { jsonrpc: '1.0', id: 1, method: 'x' }, { jsonrpc: '2.0', id: 1 }]) {
      expect((await ask(bad)).answer).toMatchObject({ id: null, error: { code: -32600 } });
    }
    const wrong = await ask(request('kaiwu.tool_registry_get', { toolid: 'x' }));
    expect(wrong.answer.error).toMatchObject({ code: -32602, data: { code: 'invalid_input' } });
    expect(await ask({ jsonrpc: '2.0', method: 'kaiwu.tool_registry_list' })).toEqual({
      status: 202,
      answer: undefined,
    });
  });

  it('is audited under the label of its caller', async () => {
    await ask(request('kaiwu.tool_registry_get', { tool_id: 'session.list' }));
    const { rows } = await world.ok(token, 'audit.list', { actionId: 'tool.registry.get' });
    expect((rows as object[])[0]).toMatchObject({ client: 'mcp:rpc', surface: 'mcp', outcome: 'ok' });
  });
});
