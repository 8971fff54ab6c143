import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import type { AgentInfo } from '../../src/core/agent.ts';
import { demoAgent } from './helpers/fake-daemon.ts';
import { openSessions, type SessionWorld } from './helpers/session-world.ts';
import { until } from './helpers/until.ts';
import { errorOf } from './helpers/world.ts';

const SECRET = 'correct-horse-battery';

let t: SessionWorld;
/** As the daemon tells it; changed in place. */
let mine: AgentInfo;
let onStart: () => void | Promise<void>;
beforeEach(async () => {
  onStart = () => {};
  mine = { ...demoAgent, agentId: 'mine', source: 'added', permissionModes: ['default'] };
  t = await openSessions({
    agents: [demoAgent, mine],
    before: (method) => (method === 'session.start' ? onStart() : undefined),
  });
});
afterEach(() => t.end());

describe('what a start asks for', () => {
  it('reaches the machine and shows in the session', async () => {
    const sessionId = await t.spawn({
      title: 'Fix: Flaky  Tests!',
      additionalDirectories: ['/work/more'],
      createDirectory: true,
      worktree: { base: 'main' },
      tags: ['a', 'b', 'a'],
    });
    expect(t.asked('session.start')).toMatchObject({
      additionalDirectories: ['/work/more'],
      createDirectory: true,
      worktree: { branch: `kaiwu/fix-flaky-tests-${sessionId.slice(5, 9)}`, base: 'main' },
    });
    expect(t.asked('session.start')).not.toHaveProperty('environment');
    const status = await t.ok('session.status.get', { sessionId });
    expect(status).toMatchObject({ tags: ['a', 'b'], additionalDirectories: ['/work/more'], depth: 0 });
  });

  it('is named by what can be seen', async () => {
    const unseen = '\u202e\u200b \u3164';
    for (const [path, input] of [
      ['directory', { directory: ' ' }],
      ['directory', { directory: '' }],
      ['additionalDirectories.0', { additionalDirectories: ['\t'] }],
      ['title', { title: unseen }],
      ['tags.0', { tags: [unseen] }],
    ] as const)
      expect(await t.fail('session.spawn_new', { ...t.input, ...input })).toMatchObject({
        code: 'invalid_input',
        details: { issues: [{ path }] },
      });
    const sessionId = await t.spawn({ title: `<${unseen}👩‍💻>`, worktree: {} });
    expect(t.asked('session.start').worktree.branch).toBe(`kaiwu/${sessionId.slice(5, 13)}`);
    expect((await t.fail('session.title.set', { sessionId, title: unseen })).code).toBe('invalid_input');
    expect((await t.ok('session.list')).sessions).toHaveLength(1);
  });

  it('is tried in any mode by an added agent that has not started yet, and refused by what it offered', async () => {
    const start = { ...t.input, agentId: 'mine', permissionMode: 'bypass' };
    await t.ok('session.spawn_new', start);
    expect(t.asked('session.start')).toMatchObject({ agentId: 'mine', permissionMode: 'bypass' });
    Object.assign(mine, { features: [], permissionModes: ['default', 'plan'], reason: 'it offers a, b.' });
    // Known from the first look at the machine, and told by a fresh one.
    await t.ok('agents.backends.list', {});
    expect(await t.fail('session.spawn_new', start)).toMatchObject({
      code: 'unsupported',
      hint: 'It has: default, plan. Note: it offers a, b.',
    });
    Object.assign(mine, { permissionModes: ['default', 'bypass'] });
    await t.ok('session.spawn_new', start);
  });

  it('names a branch after the id where there is no title, and as it is told', async () => {
    const sessionId = await t.spawn({ worktree: {} });
    expect(t.asked('session.start').worktree).toEqual({ branch: `kaiwu/${sessionId.slice(5, 13)}` });
    await t.spawn({ title: '修复 测试', worktree: {} });
    expect(t.asked('session.start').worktree.branch).toMatch(/^kaiwu\/修复-测试-[a-z0-9]{4}$/);
    await t.spawn({ worktree: { branch: 'topic/mine' } });
    expect(t.asked('session.start').worktree).toEqual({ branch: 'topic/mine' });
  });

  it('is asked again in full when the link dropped meanwhile', async () => {
    let first = true;
    onStart = async () => {
      if (!first) return;
      first = false;
      void t.goOffline().then(() => t.daemon.connect());
      await new Promise(() => {});
    };
    await t.spawn({ createDirectory: true, worktree: { branch: 'b' }, environment: { STAGE: SECRET } });
    expect(t.daemon.requests.filter(({ method }) => method === 'session.start')).toHaveLength(2);
    expect(t.asked('session.start')).toMatchObject({
      createDirectory: true,
      worktree: { branch: 'b' },
      environment: { STAGE: SECRET },
    });
  });

  it.each([
    ['a tag without letters', { tags: ['  '] }, 'tags.0'],
    ['a tag that is long', { tags: ['x'.repeat(41)] }, 'tags.0'],
    ['too many tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'tags'],
    ['more than a machine takes', { environment: { A: SECRET.repeat(4000) } }, 'environment'],
    ['a variable that is none', { environment: { 'A-B': SECRET } }, 'environment'],
  ])('refuses %s', async (_, more, path) => {
    const error = await t.fail('session.spawn_new', { ...t.input, ...more });
    expect(error.code).toBe('invalid_input');
    expect(JSON.stringify(error)).toContain(path);
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });
});

describe('the environment', () => {
  /** All that the backend wrote, and all that it says. */
  async function everything(): Promise<string> {
    const files = await Promise.all(
      ['', '-wal'].map((end) => readFile(`${t.world.databasePath}${end}`, 'latin1').catch(() => '')),
    );
    const audit = await t.ok('audit.list', { limit: 50 });
    return [...files, ...t.world.logs, JSON.stringify(audit)].join('\n');
  }

  it('goes to the machine and nowhere else; names are seen', async () => {
    const sessionId = await t.spawn({ environment: { STAGE: SECRET, ALPHA: `${SECRET}-2` } });
    expect(t.asked('session.start').environment).toEqual({ STAGE: SECRET, ALPHA: `${SECRET}-2` });
    const status = await t.ok('session.status.get', { sessionId });
    expect(status.environmentNames).toEqual(['ALPHA', 'STAGE']);
    expect(JSON.stringify(status)).not.toContain(SECRET);
    // Once more under another name, and misspelt, so that nothing knows which action was meant.
    const input = { ...t.input, environment: { STAGE: SECRET } };
    await t.world.call(t.token, 'action.execute', { actionId: 'session.spawn_nwe', input });
    await t.world.call(t.token, 'session.spawn_new', input, {}, { idempotencyKey: 'key-1' });
    const all = await everything();
    expect(all).toContain(sessionId);
    expect(all).not.toContain(SECRET);
  });

  it('is not filed for a person: the field is named, and nothing is stored', async () => {
    await t.ok('policy.set', { rules: { 'session.spawn_new': { cli: { approval: true } } } });
    const error = await t.fail('session.spawn_new', { ...t.input, environment: { STAGE: SECRET } });
    expect(error).toMatchObject({ code: 'unsupported', details: { fields: ['environment'] } });
    expect(error.message).toContain('environment');
    const asked = { actionId: 'session.spawn_new', input: { ...t.input, environment: { STAGE: SECRET } } };
    expect((await t.fail('approval.request.create', asked)).code).toBe('unsupported');
    expect((await t.ok('approval.request.list')).approvals).toEqual([]);
    expect((await t.world.call(t.token, 'session.spawn_new', t.input)).status).toBe('approval_required');
    expect(await everything()).not.toContain(SECRET);
  });

  it('is lost with the backend: a start that was not answered fails and says why', async () => {
    onStart = () => new Promise(() => {});
    const spawned = t.world.call(t.token, 'session.spawn_new', {
      ...t.input,
      environment: { STAGE: SECRET },
    });
    await until(t.world.store.feed, (entry) => entry.type === 'session.changed');
    await t.world.restart();
    await spawned.catch(() => {});
    onStart = () => {};
    const failed = until(t.world.store.feed, (entry) => entry.type === 'session.changed');
    await t.world.daemon(t.token, { instanceId: 'instance-2' });
    await failed;
    const [session] = (await t.world.store.sessions.list({}, { limit: 1 })).items;
    expect(session).toMatchObject({
      status: 'failed',
      reason: { code: 'canceled', message: expect.stringContaining('STAGE'), hint: expect.any(String) },
    });
  });
});

it('a failure says the next step wherever it is told', async () => {
  const hint = 'Sign in: claude /login';
  onStart = () => {
    throw new KaiwuError('agent_needs_setup', 'Nobody is signed in to demo.', { hint });
  };
  const error = errorOf(await t.world.call(t.token, 'session.spawn_new', t.input));
  expect(error).toMatchObject({ code: 'agent_needs_setup', hint });
  const sessionId = error.details?.['sessionId'] as string;
  const status = await t.ok('session.status.get', { sessionId });
  expect(status.reason).toEqual({ code: 'agent_needs_setup', message: 'Nobody is signed in to demo.', hint });
});

describe('a start that is refused', () => {
  const listed = async (more: object = {}) =>
    (await t.ok('session.list', more)).sessions.map((session: { sessionId: string }) => session.sessionId);
  const waiting = async () =>
    (await t.ok('inbox.list')).items.map(({ itemId }: { itemId: string }) => itemId);
  const refuse = () => {
    throw new KaiwuError('invalid_input', 'worktree.branch is none');
  };
  const refused = async () => {
    onStart = refuse;
    const { details } = await t.fail('session.spawn_new', t.input);
    return details?.['sessionId'] as string;
  };

  it('is told to its caller and waits for nobody', async () => {
    const sessionId = await refused();
    expect([await listed(), await waiting()]).toEqual([[], []]);
    expect(await listed({ status: 'failed' })).toEqual([sessionId]);
    expect(await t.ok('session.status.get', { sessionId })).toMatchObject({
      status: 'failed',
      reason: { code: 'invalid_input' },
    });
    await t.world.restart();
    expect([await listed(), await waiting()]).toEqual([[], []]);
  });

  it('by the agent, which says so in the transcript, is no different', async () => {
    onStart = async () => {
      const [{ sessionId }] = (await t.ok('session.list')).sessions;
      const reason = { code: 'agent_failed', message: 'it ended' };
      const failed = { type: 'session_failed' as const, reason, seq: 1, at: '2026-01-01T00:00:00.000Z' };
      await t.daemon.peer.request('events.append', { sessionId, events: [failed] }, 10_000);
      throw new KaiwuError('agent_failed', 'it ended');
    };
    expect((await t.fail('session.spawn_new', t.input)).code).toBe('agent_failed');
    expect([await listed(), await waiting()]).toEqual([[], []]);
  });

  it('is there again once a message starts it after all', async () => {
    const sessionId = await refused();
    onStart = () => {};
    await t.ok('session.message.send', { sessionId, message: 'now' });
    await expect.poll(() => listed()).toEqual([sessionId]);
  });

  it('waits for a person where a message came to it, or nobody was told', async () => {
    onStart = async () => {
      const [{ sessionId }] = (await t.ok('session.list')).sessions;
      await t.ok('session.message.send', { sessionId, message: 'hello' });
      refuse();
    };
    const { details } = await t.fail('session.spawn_new', t.input);
    const withMessage = details?.['sessionId'];
    expect(await waiting()).toEqual([withMessage]);
    await t.world.store.sessions.insert({
      sessionId: 'sess_alone',
      machineId: 'mach_one',
      permissionMode: 'default',
      ...t.input,
    });
    await t.world.store.sessions.failStart('sess_alone', { code: 'canceled', message: 'lost' });
    const both = new Set([withMessage, 'sess_alone']);
    expect([new Set(await waiting()), new Set(await listed())]).toEqual([both, both]);
  });
});
