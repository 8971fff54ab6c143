import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/core/tool-instructions.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';

const TEXTS = join(import.meta.dirname, '../../src/backend/assistant/texts');

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const ok = (actionId: string, input: object = {}, surface = 'mcp') =>
  world.ok(token, actionId, input, { surface } as never);
const refused = async (actionId: string, input: object = {}, surface = 'mcp') =>
  errorOf(await world.call(token, actionId, input, { surface } as never));

async function spawn(title = 'Fix the readme'): Promise<string> {
  await world.daemon(token);
  const input = { agentId: 'demo', directory: '/work', title };
  const { sessionId } = await world.ok(token, 'session.spawn_new', input);
  return sessionId as string;
}

interface Row {
  uri: string;
  id: string;
  name: string;
}

describe('resources', () => {
  it('hold every built-in sub-agent that has a text, and none that has not', async () => {
    const files = readdirSync(join(TEXTS, 'agents')).map((name) => name.replace(/\.md$/, ''));
    const { subagents } = await ok('agent.subagents.list');
    expect((subagents as Row[]).map(({ id }) => id)).toEqual(files.toSorted());
    const { resources } = await ok('resource.list');
    const uris = (resources as Row[]).map(({ uri }) => uri);
    expect(uris.filter((uri) => uri.includes('/agents/'))).toEqual(
      files.toSorted().map((id) => `kaiwu://prompts/agents/${id}`),
    );
    for (const name of ['identity', 'soul', 'user']) expect(uris).toContain(`kaiwu://prompts/${name}`);
    for (const uri of uris)
      expect(((await ok('resource.read', { uri }))['text'] as string).length).toBeGreaterThan(50);
  });

  it('read sessions and transcripts as their own actions would', async () => {
    const sessionId = await spawn();
    const read = async (uri: string) => JSON.parse((await ok('resource.read', { uri }))['text'] as string);
    expect(await read(`kaiwu://sessions/${sessionId}`)).toMatchObject({ sessionId, title: 'Fix the readme' });
    const transcript = await read(`kaiwu://sessions/${sessionId}/transcript`);
    expect(transcript).toMatchObject({ sessionId, events: [{ seq: 1 }] });
    expect(await read('kaiwu://catalog')).toContainEqual(expect.objectContaining({ toolId: 'session.list' }));
    // What the policy refuses is refused here too.
    const rules = {
      'session.transcript.get': { mcp: { enabled: false } },
      'session.status.get': { mcp: { approval: true } },
    };
    await world.ok(token, 'policy.set', { rules });
    const off = await refused('resource.read', { uri: `kaiwu://sessions/${sessionId}/transcript` });
    expect(off).toMatchObject({ code: 'action_disabled', details: { reason: 'disabled_by_policy' } });
    const asks = await refused('resource.read', { uri: `kaiwu://sessions/${sessionId}` });
    expect(asks).toMatchObject({ code: 'action_disabled', details: { reason: 'asks_first' } });
  });

  it.each([
    ['kaiwu://nowhere', 'not_found'],
    ['kaiwu://prompts/agents/nobody', 'not_found'],
    ['kaiwu://prompts/agents/../identity', 'not_found'],
    ['file:///etc/passwd', 'not_found'],
    ['kaiwu://sessions/sess_nobody', 'session_not_found'],
    ['  ', 'invalid_input'],
  ])('%j is %s', async (uri, code) => {
    expect(await refused('resource.read', { uri })).toMatchObject({ code });
  });

  it('templates say how addresses are made', async () => {
    const { templates } = await ok('resource.templates.list');
    expect((templates as { uriTemplate: string }[]).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'kaiwu://sessions/{sessionId}',
      'kaiwu://sessions/{sessionId}/transcript',
    ]);
  });
});

describe('prompts', () => {
  it('are filled in, and ask for what they need by name', async () => {
    const { prompts } = await ok('prompt.list');
    expect((prompts as Row[]).map(({ name }) => name)).toEqual([
      'plan_change',
      'review_session',
      'triage_inbox',
    ]);
    const { text } = await ok('prompt.get', {
      name: 'review_session',
      arguments: { sessionId: 'sess_1 $& {{x}}' },
    });
    expect(text).toContain('session sess_1 $& {{x}} in Kaiwu');
    expect(await refused('prompt.get', { name: 'plan_change', arguments: { change: ' ' } })).toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: 'arguments.sessionId' }, { path: 'arguments.change' }] },
    });
    expect(await refused('prompt.get', { name: 'triage_inbx' })).toMatchObject({ code: 'not_found' });
  });
});

describe('completion', () => {
  it('finds sessions, machines and agents by what was typed', async () => {
    const sessionId = await spawn();
    const { machines } = await ok('machines.list');
    const [{ machineId }] = machines as [{ machineId: string }];
    const complete = (argument: string, value: string) => ok('completion.complete', { argument, value });
    expect(await complete('sessionId', 'readme')).toMatchObject({
      values: [sessionId],
      total: 1,
      hasMore: false,
    });
    expect(await complete('sessionId', 'no such')).toMatchObject({ values: [], total: 0 });
    expect(await complete('machineId', machineId.slice(0, 6))).toMatchObject({
      values: [machineId],
    });
    expect(await complete('agentId', 'dem')).toMatchObject({ values: ['demo'] });
    expect(await complete('colour', 're')).toEqual({ values: [], total: 0, hasMore: false });
  });
});

describe('sub-agents', () => {
  const mine = {
    id: 'notes',
    name: 'Notes',
    description: 'Writes notes.',
    intent: 'delegate',
    prompt: 'Write notes.',
  };

  it('of the account are kept, replaced and removed; built-in ones are not touched', async () => {
    await ok('agent.subagent.set', mine, 'cli');
    await ok('agent.subagent.set', { ...mine, name: 'Better notes' }, 'cli');
    await world.restart();
    expect((await ok('agent.subagent.get', { id: 'notes' }))['subagent']).toEqual({
      ...mine,
      name: 'Better notes',
      source: 'account',
    });
    expect(await refused('agent.subagent.set', { ...mine, id: 'reviewer' }, 'cli')).toMatchObject({
      code: 'conflict',
    });
    expect(await refused('agent.subagent.remove', { id: 'reviewer' }, 'cli')).toMatchObject({
      code: 'conflict',
    });
    await ok('agent.subagent.remove', { id: 'notes' }, 'cli');
    expect(await refused('agent.subagent.get', { id: 'note' })).toMatchObject({ code: 'not_found' });
  });

  it('run beside a session with what they are told and the prompt', async () => {
    const sessionId = await spawn();
    const { runs, runId } = await ok('agent.subagent.run', {
      id: 'reviewer',
      prompt: 'The last commit.',
      sessionId,
    });
    expect(runs).toHaveLength(1);
    const run = await ok('execution.run.get', { runId });
    expect(run).toMatchObject({ sessionId, intent: 'review', permissionMode: 'read_only' });
    expect(run['instructions']).toMatch(/^Review as somebody[\s\S]*\n\nThe last commit\.$/);
    expect(await refused('agent.subagent.run', { id: 'nobody', prompt: 'x', sessionId })).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('the tools of a surface', () => {
  it('are told as data, as the policy has them', async () => {
    const names = async () => ((await ok('core.tools.list'))['tools'] as Row[]).map(({ name }) => name);
    expect(await names()).toContain('session_list');
    await world.ok(token, 'policy.set', { rules: { 'session.list': { mcp: { enabled: false } } } });
    expect(await names()).not.toContain('session_list');
  });

  it.each([200, 1000, 4000, 50_000])('are told in words of at most %d tokens', async (maxTokens) => {
    const { text, told, named, left } = await ok('core.tools.instructions', { maxTokens });
    expect(estimateTokens(text as string)).toBeLessThanOrEqual(maxTokens);
    const { tools } = await ok('core.tools.list');
    expect(Number(told) + Number(named) + Number(left)).toBe((tools as unknown[]).length);
    if (maxTokens === 50_000) {
      expect({ named, left }).toEqual({ named: 0, left: 0 });
      expect(text).toContain('### session_title_set');
      expect(text).toContain('- `title`* (string)');
    }
  });
});
