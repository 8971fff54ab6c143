import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { START_WAIT_MS } from '../../src/backend/work/starts.ts';
import { KaiwuError } from '../../src/core/errors.ts';
import type { SessionEventBody } from '../../src/core/session.ts';
import { SESSION_LIMITS } from '../../src/daemon/options.ts';
import { demoAgent, type FakeDaemon } from './helpers/fake-daemon.ts';
import { until } from './helpers/until.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';
import type { Json } from './helpers/json.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const input = { agentId: 'demo', directory: '/work/place' };
const spawn = async (more: object = {}) =>
  (await world.ok(token, 'session.spawn_new', { ...input, ...more })).sessionId as string;
const send = (sessionId: string, message: string, more: object = {}) =>
  world.ok(token, 'session.message.send', { sessionId, message, ...more });
const fail = async (actionId: string, given: object, context: object = {}) =>
  errorOf(await world.call(token, actionId, given, context));
const offline = () => until(world.store.feed, (entry) => entry.type === 'machine.changed' && !entry.online);
const deliveries = (daemon: FakeDaemon) =>
  daemon.requests.filter(({ method }) => method === 'session.deliver').map(({ params }) => params.text);

describe('spawn', () => {
  it('starts the agent and answers the session', async () => {
    const daemon = await world.daemon(token);
    const session = await world.ok(token, 'session.spawn_new', {
      ...input,
      title: 'Try it',
      permissionMode: 'read_only',
      modelId: 'small',
      message: 'hello',
    });
    expect(session).toMatchObject({
      status: 'idle',
      title: 'Try it',
      permissionMode: 'read_only',
      machineId: 'mach_one',
      messageStatus: expect.any(String),
    });
    expect(daemon.requests[0]).toEqual({
      method: 'session.start',
      params: {
        sessionId: session.sessionId,
        agentId: 'demo',
        directory: '/work/place',
        permissionMode: 'read_only',
        modelId: 'small',
        title: 'Try it',
      },
    });
  });

  it('says what to do when no daemon has ever linked', async () => {
    const error = await fail('session.spawn_new', input);
    expect(error).toMatchObject({ code: 'daemon_not_running', retryable: true });
    expect(error.hint).toContain('kaiwu daemon start');
  });

  it("tells the caller's own stopped daemon from a machine that is away", async () => {
    const daemon = await world.daemon(token);
    const left = offline();
    await daemon.drop();
    await left;
    const own = await fail('session.spawn_new', input, { machineId: 'mach_one' });
    expect(own.code).toBe('daemon_not_running');
    const away = await fail('session.spawn_new', input, { machineId: 'mach_other' });
    expect(away).toMatchObject({
      code: 'machine_offline',
      details: { machineId: 'mach_one', since: expect.any(String) },
    });
    expect((await world.ok(token, 'session.list')).sessions).toEqual([]);
  });

  it('picks the machine: named, by prefix or name, its own, else the only one', async () => {
    await world.daemon(token, { machineId: 'mach_aaaa1111' });
    expect(await spawn()).toMatch(/^sess_/);
    const other = await world.daemon(token, { machineId: 'mach_aaaa2222' });
    await other.drop();
    await other.connect({ machineName: 'Laptop' });
    const machineOf = async (machineId: string | undefined, own?: string) => {
      const session = await world.ok(token, 'session.spawn_new', { ...input, machineId }, { machineId: own });
      return session.machineId;
    };
    expect(await machineOf('mach_aaaa2222')).toBe('mach_aaaa2222');
    expect(await machineOf('aaaa1')).toBe('mach_aaaa1111');
    expect(await machineOf('Laptop')).toBe('mach_aaaa2222');
    expect(await machineOf(undefined, 'mach_aaaa2222')).toBe('mach_aaaa2222');
    const nobody = await fail('session.spawn_new', { ...input, machineId: 'nobody' });
    expect(nobody.code).toBe('machine_not_found');
    const both = await fail('session.spawn_new', { ...input, machineId: 'mach_aaaa' });
    expect(both).toMatchObject({ code: 'machine_not_found', details: { candidates: [{}, {}] } });
    const which = await fail('session.spawn_new', input);
    expect(which).toMatchObject({ code: 'invalid_input', details: { issues: [{ path: 'machineId' }] } });
  });

  it('refuses an agent that is not there, and looks again before it does', async () => {
    const agents = [
      { ...demoAgent, agentId: 'codex', available: false, reason: 'not found', install: 'npm i codex' },
    ];
    const daemon = await world.daemon(token, { agents });
    const error = await fail('session.spawn_new', { ...input, agentId: 'codex' });
    expect(error.code).toBe('agent_not_available');
    expect(error.hint).toContain('npm i codex');
    expect((await world.ok(token, 'session.list')).sessions).toEqual([]);
    agents[0] = { ...demoAgent, agentId: 'codex' } as never;
    expect(await spawn({ agentId: 'codex' })).toMatch(/^sess_/);
    expect(daemon.requests.filter(({ method }) => method === 'agents.list')).toHaveLength(2);
    const mode = await fail('session.spawn_new', { ...input, agentId: 'codex', permissionMode: 'plan' });
    expect(mode.code).toBe('unsupported');
  });

  it("hands on the daemon's refusal, with the session it left", async () => {
    await world.daemon(token, {
      before(method) {
        if (method !== 'session.start') return;
        throw new KaiwuError('session_directory_unavailable', 'there is no /work/place', { hint: 'make it' });
      },
    });
    const error = await fail('session.spawn_new', input);
    expect(error).toMatchObject({ code: 'session_directory_unavailable', hint: 'make it' });
    const session = await world.store.sessions.get(error.details?.sessionId as string);
    expect(session).toMatchObject({
      status: 'failed',
      reason: { code: 'session_directory_unavailable', message: 'there is no /work/place' },
    });
  });

  it("waits longer than the daemon does, so that a hanging agent ends as the daemon's own failure", async () => {
    expect(START_WAIT_MS).toBeGreaterThan(SESSION_LIMITS.startMs + 5000);
    const limitMs = 300;
    await world.restart({ timings: { startMs: limitMs + 20_000 } });
    await world.daemon(token, {
      async before(method) {
        if (method !== 'session.start') return;
        await delay(limitMs);
        throw new KaiwuError('agent_failed', 'it was not ready in time');
      },
    });
    const error = await fail('session.spawn_new', input);
    expect(error.code).toBe('agent_failed');
    expect(await world.store.sessions.get(error.details?.sessionId as string)).toMatchObject({
      status: 'failed',
      reason: { code: 'agent_failed', message: 'it was not ready in time' },
    });
  });

  it('gives a start up that the daemon never answers', async () => {
    await world.restart({ timings: { startMs: 300 } });
    let release = () => {};
    await world.daemon(token, {
      before: (method) =>
        method === 'session.start' ? new Promise<void>((resolve) => (release = resolve)) : undefined,
    });
    const error = await fail('session.spawn_new', input);
    expect(error.code).toBe('timeout');
    expect(await world.store.sessions.get(error.details?.sessionId as string)).toMatchObject({
      status: 'failed',
    });
    release();
  });

  it('outlives a link that drops in the middle: it is asked for again', async () => {
    let starts = 0;
    const daemon = await world.daemon(token, {
      async before(method) {
        if (method !== 'session.start' || ++starts > 1) return;
        daemon.ws.terminate();
        throw new KaiwuError('internal', 'nobody hears this');
      },
    });
    const left = offline();
    const spawning = spawn();
    await left;
    const [session] = (await world.store.sessions.list({}, { limit: 1 })).items;
    expect(session?.status).toBe('starting');
    await daemon.connect();
    expect(await spawning).toBe(session?.sessionId);
    expect(starts).toBe(2);
  });

  it('outlives a restart of the backend: what was starting is asked for again', async () => {
    const daemon = await world.daemon(token, {
      async before(method) {
        if (method === 'session.start' && daemon.requests.length === 1) await new Promise(() => {});
      },
    });
    const waiting = world.call(token, 'session.spawn_new', input).catch(() => undefined);
    await until(world.store.feed, (entry) => entry.type === 'session.changed');
    await world.restart();
    await waiting;
    daemon.ws.terminate();
    const linked = world.daemon(token);
    const started = until(world.store.feed, (entry) => entry.type === 'transcript.appended');
    const again = await linked;
    await started;
    expect(again.requests[0]?.method).toBe('session.start');
    const { sessions } = await world.ok(token, 'session.list');
    expect(sessions).toMatchObject([{ status: 'idle' }]);
  });
});

describe('messages', () => {
  it('wait answers with the reply of its own turn', async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    expect(await send(sessionId, 'one', { wait: true })).toMatchObject({
      status: 'completed',
      reply: 'echo one',
    });
    const held = await send(sessionId, 'hold', { wait: true, timeoutSeconds: 0 });
    expect(held.timedOut).toBe(true);
  });

  it('a machine that is away: queued, then delivered in order when it is back', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const left = offline();
    await daemon.drop();
    await left;
    for (const text of ['a', 'b', 'c']) expect((await send(sessionId, text)).status).toBe('queued');
    await daemon.connect();
    const { idle } = await world.ok(token, 'session.wait.idle', { sessionId, timeoutSeconds: 30 });
    expect(idle).toBe(true);
    expect(deliveries(daemon)).toEqual(['a', 'b', 'c']);
  });

  it('exactly once and in order, whatever the link does: dropped after receiving, before answering', async () => {
    let drops = 0;
    const daemon = await world.daemon(token, {
      after(method) {
        if (method !== 'session.deliver' || drops >= 5) return;
        drops += 1;
        daemon.ws.terminate();
      },
    });
    const sessionId = await spawn();
    const texts = Array.from({ length: 12 }, (_, i) => `text ${i}`);
    const reconnect = () => void daemon.connect().catch(() => {});
    daemon.events.on('close', () => setImmediate(reconnect));
    for (const text of texts) await send(sessionId, text);
    const { idle } = await world.ok(token, 'session.wait.idle', { sessionId, timeoutSeconds: 30 });
    daemon.events.removeAllListeners('close');
    expect(idle).toBe(true);
    expect(drops).toBe(5);
    expect(deliveries(daemon).length).toBeGreaterThan(texts.length);
    expect(daemon.sessions.get(sessionId)?.messages.map(({ text }) => text)).toEqual(texts);
    const { events } = await world.store.transcripts.page(sessionId, { after: 0, limit: 200 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    const users = events.flatMap((event) => (event.type === 'user_message' ? [event.text] : []));
    expect(users).toEqual(texts);
  });

  it("the caller's own id makes one message of two calls", async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const both = await Promise.all([
      send(sessionId, 'once', { messageId: 'own-id-01' }),
      send(sessionId, 'once', { messageId: 'own-id-01' }),
    ]);
    expect(both.map(({ messageId }) => messageId)).toEqual(['own-id-01', 'own-id-01']);
    await world.ok(token, 'session.wait.idle', { sessionId });
    expect(deliveries(daemon)).toEqual(['once']);
    const other = { sessionId, message: 'other', messageId: 'own-id-01' };
    expect((await fail('session.message.send', other)).code).toBe('conflict');
  });

  it('an archived session takes none, but still answers for one that it has', async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    await send(sessionId, 'early', { messageId: 'early-id-1', wait: true });
    await world.ok(token, 'session.archive', { sessionId });
    expect((await fail('session.message.send', { sessionId, message: 'x' })).code).toBe('session_archived');
    const again = await send(sessionId, 'early', { messageId: 'early-id-1' });
    expect(again.status).toBe('completed');
  });

  it('one that the daemon refuses for good is canceled with the reason, the next one goes on', async () => {
    await world.daemon(token, {
      before(method, params) {
        if (method === 'session.deliver' && params.text === 'bad') {
          throw new KaiwuError('unsupported', 'no such mode');
        }
      },
    });
    const sessionId = await spawn();
    const [bad, good] = await Promise.all([
      send(sessionId, 'bad', { wait: true }),
      send(sessionId, 'good', { wait: true }),
    ]);
    expect(bad).toMatchObject({
      status: 'canceled',
      reason: { code: 'unsupported', message: 'no such mode' },
    });
    expect(good).toMatchObject({ status: 'completed' });
  });

  it('a session that never started is started by its first message', async () => {
    let refuse = true;
    const daemon = await world.daemon(token, {
      before(method) {
        if (method === 'session.start' && refuse) throw new KaiwuError('agent_failed', 'crashed at once');
      },
    });
    const { details } = await fail('session.spawn_new', input);
    refuse = false;
    const sent = await send(details?.sessionId as string, 'now', { wait: true });
    expect(sent).toMatchObject({ status: 'completed', reply: 'echo now' });
    expect(daemon.sessions.size).toBe(1);
  });

  it('a session that the daemon lost is not started afresh: its history would be mixed up', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    daemon.sessions.clear();
    const sent = await send(sessionId, 'hello?', { wait: true });
    expect(sent).toMatchObject({ status: 'canceled', reason: { code: 'session_not_found' } });
    expect(daemon.requests.filter(({ method }) => method === 'session.start')).toHaveLength(1);
  });

  it('overrides travel with their message', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    await send(sessionId, 'x', { permissionModeOverride: 'bypass', modelOverride: 'large' });
    expect(daemon.requests.at(-1)?.params).toMatchObject({
      permissionModeOverride: 'bypass',
      modelOverride: 'large',
    });
  });

  it('a wait that never ends can be given up, and costs nothing meanwhile', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const control = new AbortController();
    const { messageId } = await send(sessionId, 'hold');
    let reads = 0;
    const get = world.store.messages.get;
    world.store.messages.get = (id) => {
      reads += 1;
      return get(id);
    };
    const envelope = world.call(
      token,
      'session.message.send',
      { sessionId, message: 'hold', messageId, wait: true, timeoutSeconds: 2 },
      {},
      { signal: control.signal },
    );
    expect(await envelope).toMatchObject({ status: 'ok', output: { status: 'running', timedOut: true } });
    expect(reads).toBeLessThan(8);
    await daemon.record(sessionId, { type: 'turn_ended', messageId, outcome: 'completed' });
  });
});

describe('control', () => {
  const request: SessionEventBody = {
    type: 'permission_requested',
    messageId: 'msg-asking',
    request: {
      requestId: 'req-1',
      title: 'Write a file',
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'ever', name: 'Always', kind: 'allow_always' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
  };
  const respond = (sessionId: string, answer: object, context: object = {}) =>
    world.call(token, 'session.permission.respond', { sessionId, ...answer }, context);

  it('mode, model, interrupt and stop answer the session as the daemon left it', async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    expect(
      await world.ok(token, 'session.permission_mode.set', { sessionId, permissionMode: 'bypass' }),
    ).toMatchObject({ permissionMode: 'bypass' });
    expect(await world.ok(token, 'session.model.set', { sessionId, modelId: 'large' })).toMatchObject({
      modelId: 'large',
    });
    const { messageId } = await send(sessionId, 'hold');
    const status = async () => (await world.store.messages.get(messageId))?.status;
    await expect.poll(status, { timeout: 20_000 }).toBe('running');
    expect(await world.ok(token, 'session.interrupt', { sessionId })).toMatchObject({ interrupted: true });
    expect(await world.store.messages.get(messageId)).toMatchObject({ status: 'canceled' });
    expect(await world.ok(token, 'session.stop', { sessionId })).toMatchObject({ status: 'stopped' });
    expect(await world.ok(token, 'session.stop', { sessionId })).toMatchObject({ status: 'stopped' });
  });

  it('stop cancels what was not delivered, even while the machine is away', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const left = offline();
    await daemon.drop();
    await left;
    const { messageId } = await send(sessionId, 'never');
    const error = await fail('session.stop', { sessionId });
    expect(error.code).toBe('machine_offline');
    expect(await world.store.messages.get(messageId)).toMatchObject({
      status: 'canceled',
      reason: { code: 'canceled' },
    });
    await daemon.connect();
    await world.ok(token, 'session.stop', { sessionId });
    expect(deliveries(daemon)).toEqual([]);
  });

  it('stop overtakes what waits behind a slow delivery', async () => {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const daemon = await world.daemon(token, {
      before: (_method, params) => (params.text === 'slow' ? released : undefined),
    });
    const sessionId = await spawn();
    const left = offline();
    await daemon.drop();
    await left;
    await send(sessionId, 'slow');
    await send(sessionId, 'behind', { messageId: 'behind-id-1' });
    const asked = once(daemon.events, 'request');
    await daemon.connect();
    await asked;
    await world.ok(token, 'session.stop', { sessionId });
    release();
    await world.ok(token, 'session.wait.idle', { sessionId });
    expect(deliveries(daemon)).toEqual(['slow']);
    expect(await world.store.messages.get('behind-id-1')).toMatchObject({ status: 'canceled' });
  });

  it('events that came before an answer are stored when the answer counts, however slow the disk', async () => {
    await world.daemon(token);
    const sessionId = await spawn();
    const { append } = world.store.transcripts;
    world.store.transcripts.append = async (...events) => {
      await delay(100);
      return append(...events);
    };
    const changed = { sessionId, permissionMode: 'bypass' };
    expect(await world.ok(token, 'session.permission_mode.set', changed)).toMatchObject(changed);
    expect(await world.ok(token, 'session.stop', { sessionId })).toMatchObject({ status: 'stopped' });
  });

  it('a permission is answered by decision or option, once', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    await send(sessionId, 'hold');
    expect(errorOf(await respond(sessionId, { decision: 'allow' })).code).toBe('conflict');
    await daemon.record(sessionId, request);
    expect(await world.store.sessions.get(sessionId)).toMatchObject({ status: 'waiting' });
    expect(errorOf(await respond(sessionId, { decision: 'allow', requestId: 'old' })).code).toBe('conflict');
    const wrong = errorOf(await respond(sessionId, { optionId: 'maybe' }));
    expect(wrong).toMatchObject({ code: 'invalid_input', details: { options: [{}, {}, {}] } });
    const agent = errorOf(await respond(sessionId, { decision: 'allow' }, { surface: 'agent' }));
    expect(['permission_escalation_denied', 'action_disabled']).toContain(agent.code);
    expect(await respond(sessionId, { decision: 'allow' })).toMatchObject({
      status: 'ok',
      output: { status: 'running' },
    });
    expect(daemon.requests.at(-1)).toEqual({
      method: 'session.answer',
      params: { sessionId, requestId: 'req-1', optionId: 'yes', by: 'cli' },
    });
    expect(errorOf(await respond(sessionId, { decision: 'allow' })).code).toBe('conflict');
  });

  it('allow never becomes a lasting one; deny works without an option of its kind', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    await send(sessionId, 'hold');
    const only = structuredClone<Extract<SessionEventBody, { type: 'permission_requested' }>>(request);
    only.request.options = [{ optionId: 'ever', name: 'Always', kind: 'allow_always' }];
    await daemon.record(sessionId, only);
    expect(errorOf(await respond(sessionId, { decision: 'allow' })).code).toBe('invalid_input');
    expect((await respond(sessionId, { decision: 'deny' })).status).toBe('ok');
    expect(daemon.requests.at(-1)?.params.optionId).toBeUndefined();
  });

  it('an agent raises no mode: neither its own nor by a message', async () => {
    await world.daemon(token);
    const sessionId = await spawn({ permissionMode: 'read_only' });
    const agent = await world.makeToken({ kind: 'agent', scope: { surfaces: ['agent'], sessionId } });
    await world.ok(token, 'policy.set', {
      rules: {
        'session.permission_mode.set': { agent: { enabled: true, approval: false } },
        'session.message.send': { agent: { enabled: true, approval: false } },
      },
    });
    for (const [actionId, given] of [
      ['session.permission_mode.set', { permissionMode: 'bypass' }],
      ['session.message.send', { message: 'x', permissionModeOverride: 'bypass' }],
      // A plan can be left, so it is freer than reading only.
      ['session.permission_mode.set', { permissionMode: 'plan' }],
      ['session.message.send', { message: 'x', permissionModeOverride: 'plan' }],
    ] as const) {
      const envelope = await world.call(agent, actionId, given, { surface: 'agent' });
      expect([actionId, errorOf(envelope).code]).toEqual([actionId, 'permission_escalation_denied']);
    }
    expect(await world.store.sessions.get(sessionId)).toMatchObject({ permissionMode: 'read_only' });
  });

  it('an agent that only claims to be in a freer session gives away no more than the strictest mode', async () => {
    await world.daemon(token);
    const free = await spawn({ permissionMode: 'bypass' });
    await world.ok(token, 'policy.set', {
      rules: { 'session.spawn_new': { agent: { enabled: true, approval: false } } },
    });
    const claim = { surface: 'agent', sessionId: free } as const;
    // No session is proven, so there is neither a mode nor a workspace to give of.
    for (const permissionMode of ['bypass', 'default', undefined, 'read_only']) {
      const error = errorOf(
        await world.call(token, 'session.spawn_new', { ...input, permissionMode }, claim),
      );
      expect([permissionMode, error.code]).toEqual([permissionMode, 'permission_escalation_denied']);
    }
  });
});

describe('what is where', () => {
  it('machines, agents, models, modes, servers and paths', async () => {
    const daemon = await world.daemon(token);
    const sessionId = await spawn();
    const own = { machineId: 'mach_one' };
    expect((await world.ok(token, 'machines.list', {}, own)).machines).toMatchObject([
      { machineId: 'mach_one', online: true, current: true },
    ]);
    expect(await world.ok(token, 'agents.backends.list', {})).toMatchObject({
      machineId: 'mach_one',
      agents: [{ agentId: 'demo', available: true }],
    });
    const models = await world.ok(token, 'agents.models.list', { agentId: 'demo' });
    expect(models.models.map((model: Json) => model.id)).toEqual(['small']);
    const reported = await world.ok(token, 'agents.models.list', { sessionId });
    expect(reported.models.map((model: Json) => model.id)).toEqual(['small', 'large']);
    expect(reported.currentModelId).toBe('small');
    const others = [{ id: 'vast', name: 'Vast' }];
    await daemon.record(sessionId, { type: 'model_changed', modelId: 'vast', models: others });
    await daemon.record(sessionId, { type: 'model_changed', modelId: 'vast' });
    expect(await world.ok(token, 'agents.models.list', { sessionId })).toEqual({
      models: others,
      currentModelId: 'vast',
    });
    const modes = await world.ok(token, 'agents.session_modes.list', { sessionId });
    expect(modes.currentMode).toBe('default');
    expect(modes.modes.map((mode: Json) => mode.id ?? mode)).toEqual(['default', 'read_only', 'bypass']);
    expect((await world.ok(token, 'servers.list')).servers).toMatchObject([
      { serverId: 'server-under-test', url: world.url, version: '1.2.3', database: 'sqlite' },
    ]);
    expect((await world.ok(token, 'paths.list_recent')).paths).toMatchObject([{ path: '/work/place' }]);
    expect((await fail('agents.models.list', { agentId: 'nobody' })).code).toBe('agent_not_available');
  });

  it('a machine that is away still tells what it had', async () => {
    const daemon = await world.daemon(token);
    const left = offline();
    await daemon.drop();
    await left;
    expect((await world.ok(token, 'agents.backends.list', {})).agents).toMatchObject([{ agentId: 'demo' }]);
  });
});
