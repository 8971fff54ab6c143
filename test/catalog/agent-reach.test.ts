import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { openWorld, type World } from '../backend/helpers/world.ts';

/**
 * What the agent of a session can do with its token: `tree` is its own session and those below it, `anyone` is about no
 * session or keeps to what the session may see, `forwards` stands for the action that it names. An action that is not here
 * fails, so that each new one is thought about.
 */
const REACH: Record<string, 'absent' | 'forbidden' | 'tree' | 'anyone' | 'forwards'> = {
  'action.execute': 'forwards',
  'action.options.resolve': 'anyone',
  'action.read': 'forwards',
  'action.spec.get': 'anyone',
  'action.spec.search': 'anyone',
  'agent.subagent.get': 'anyone',
  'agent.subagent.remove': 'absent',
  'agent.subagent.run': 'tree',
  'agent.subagent.set': 'absent',
  'agent.subagents.list': 'anyone',
  'agents.backends.list': 'anyone',
  'agents.models.list': 'tree',
  'agents.session_modes.list': 'tree',
  'approval.grant.create': 'absent',
  'approval.grant.list': 'forbidden',
  'approval.grant.revoke': 'absent',
  'approval.request.cancel': 'anyone',
  'approval.request.create': 'anyone',
  'approval.request.decide': 'absent',
  'approval.request.get': 'anyone',
  'approval.request.list': 'forbidden',
  'audit.list': 'absent',
  'audit.verify': 'absent',
  'capability.provider.add': 'absent',
  'capability.provider.list': 'absent',
  'capability.provider.remove': 'absent',
  'capability.provider.update': 'absent',
  'completion.complete': 'anyone',
  'core.tools.instructions': 'anyone',
  'core.tools.list': 'anyone',
  'device.approve': 'absent',
  'device.list': 'absent',
  'device.revoke': 'absent',
  'execution.run.get': 'tree',
  'execution.run.list': 'tree',
  'execution.run.send': 'tree',
  'execution.run.start': 'tree',
  'execution.run.stop': 'tree',
  'execution.run.stream.read': 'tree',
  'execution.run.wait': 'tree',
  'file.get': 'absent',
  'file.list': 'absent',
  'file.remove': 'absent',
  'file.send': 'tree',
  'inbox.list': 'absent',
  'machines.list': 'anyone',
  'mcp.server.add': 'absent',
  'mcp.server.disable': 'absent',
  'mcp.server.enable': 'absent',
  'mcp.server.get': 'anyone',
  'mcp.server.list': 'anyone',
  'mcp.server.login.begin': 'absent',
  'mcp.server.login.complete': 'absent',
  'mcp.server.remove': 'absent',
  'mcp.server.test': 'absent',
  'mcp.server.update': 'absent',
  'mcp.tool.accept': 'absent',
  'mcp.tool.call': 'forwards',
  'mcp.tool.list': 'anyone',
  'mcp.tool.search': 'anyone',
  'memory.fetch': 'anyone',
  'memory.forget': 'anyone',
  'memory.ingest': 'tree',
  'memory.learn': 'anyone',
  'memory.list': 'anyone',
  'memory.recall': 'anyone',
  'memory.settings.get': 'absent',
  'memory.settings.set': 'absent',
  'passkey.list': 'absent',
  'passkey.rename': 'absent',
  'passkey.revoke': 'absent',
  'paths.list_recent': 'forbidden',
  'policy.explain': 'absent',
  'policy.get': 'absent',
  'policy.import': 'absent',
  'policy.preview': 'absent',
  'policy.set': 'absent',
  'policy.unset': 'absent',
  'prompt.get': 'anyone',
  'prompt.list': 'anyone',
  'resource.list': 'anyone',
  'resource.read': 'anyone',
  'provider.list': 'absent',
  'provider.remove': 'absent',
  'provider.set': 'absent',
  'provider.test': 'absent',
  'searxng.search': 'anyone',
  'resource.templates.list': 'anyone',
  'review.start': 'tree',
  'servers.list': 'forbidden',
  'session.archive': 'tree',
  'session.config_option.list': 'tree',
  'session.config_option.set': 'absent',
  'session.fork': 'tree',
  'session.interrupt': 'tree',
  'session.list': 'tree',
  'session.message.send': 'tree',
  'session.model.set': 'tree',
  'session.permission.respond': 'absent',
  'session.permission_mode.set': 'tree',
  'session.spawn_new': 'tree',
  'session.status.get': 'tree',
  'session.stop': 'tree',
  'session.title.set': 'tree',
  'session.transcript.get': 'tree',
  'session.transcript.search': 'tree',
  'session.unarchive': 'tree',
  'session.user_action.answer': 'absent',
  'session.wait.idle': 'tree',
  'subagents.delegate.start': 'tree',
  'subagents.plan.start': 'tree',
  'token.create': 'absent',
  'token.list': 'absent',
  'token.revoke': 'absent',
  'tool.registry.diagnostics': 'absent',
  'tool.registry.get': 'anyone',
  'tool.registry.list': 'anyone',
  'voice_agent.start': 'tree',
  'web.answer': 'anyone',
  'web.search': 'anyone',
};

/** What must never be within an agent's hands, whatever else changes. */
const NEVER =
  /^(approval\.request\.decide|approval\.grant\.(create|revoke)|policy\.|token\.|device\.|session\.(permission|user_action)\.|inbox\.|audit\.)/;

let world: World;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  // What needs a provider is reached where there is one, and fails there.
  const owner = (await world.signIn()).token;
  const base_url = 'http://127.0.0.1:1';
  await world.ok(owner, 'provider.set', { id: 'search', kind: 'searxng', base_url });
  await world.ok(owner, 'provider.set', { id: 'answer', kind: 'openai', model: 'm', base_url });
  for (const [sessionId, parentSessionId] of [
    ['sess_parent'],
    ['sess_own', 'sess_parent'],
    ['sess_sibling', 'sess_parent'],
    ['sess_below', 'sess_own'],
    ['sess_stranger'],
  ] as const) {
    await world.store.sessions.insert({
      sessionId,
      agentId: 'demo',
      machineId: 'mach_1',
      directory: '/x',
      permissionMode: 'default',
      ...(parentSessionId === undefined ? {} : { parentSessionId }),
    });
  }
  token = await world.makeToken({ kind: 'agent', scope: { surfaces: ['agent'], sessionId: 'sess_own' } });
});
afterAll(() => world.end());

const codeOf = async (actionId: string, input: unknown, surface = 'agent') => {
  const envelope = await world.call(token, actionId, input, { surface: surface as 'agent' });
  return envelope.status === 'error' ? envelope.error.code : envelope.status;
};

const sorted = registry.toSorted((a, b) => (a.id < b.id ? -1 : 1));

it('every action is thought about', () => {
  expect(sorted.map(({ id }) => id)).toEqual(Object.keys(REACH).toSorted());
  const within = Object.entries(REACH).filter(([id, reach]) => NEVER.test(id) && reach !== 'absent');
  expect(within).toEqual([]);
});

describe.each(sorted.map((action) => ({ action, id: action.id })))('$id', ({ action }) => {
  const input = action.examples[0]?.input ?? {};
  const reach = REACH[action.id];

  it(`is ${reach} for the agent of a session`, async () => {
    if (reach === 'absent') return expect(await codeOf(action.id, input)).toBe('action_disabled');
    if (reach === 'forbidden') return expect(await codeOf(action.id, input)).toBe('forbidden');
    if (reach === 'tree') {
      const { field } = action.session as { field: string };
      for (const beyond of ['sess_parent', 'sess_sibling', 'sess_stranger', 'sess_nothing', 'parent']) {
        const named = { ...input, [field]: beyond };
        expect([beyond, await codeOf(action.id, named)]).toEqual([beyond, 'forbidden']);
        const through = { actionId: action.id, input: named };
        expect([beyond, await codeOf('action_execute', through)]).toEqual([beyond, 'forbidden']);
        expect([beyond, await codeOf('approval_request_create', through)]).toEqual([beyond, 'forbidden']);
      }
      return;
    }
    expect(await codeOf(action.id, input)).not.toBe('action_disabled');
  });

  it('is refused under any other name that the agent might call by', async () => {
    for (const surface of ['app', 'cli', 'mcp', 'voice']) {
      expect([surface, await codeOf(action.id, input, surface)]).toEqual([surface, 'forbidden']);
    }
  });
});

it('lists hold to the tree, whatever they are asked for', async () => {
  const listed = await world.ok(token, 'session.list', { archived: 'include' }, { surface: 'agent' });
  expect((listed.sessions as { sessionId: string }[]).map(({ sessionId }) => sessionId)).toEqual([
    'sess_below',
  ]);
  const found = await world.call(
    token,
    'session.list',
    { below: 'sess_own', parentSessionId: 'sess_parent' },
    { surface: 'agent' },
  );
  expect(JSON.stringify(found)).not.toContain('sibling');
  const options = await world.ok(
    token,
    'action.options.resolve',
    { actionId: 'session.title.set', field: 'sessionId' },
    { surface: 'agent' },
  );
  expect(JSON.stringify(options)).not.toMatch(/sibling|stranger/);
});
