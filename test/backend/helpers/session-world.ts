import type { CallContext } from '../../../src/core/call.ts';
import type { FakeDaemonOptions } from './fake-daemon.ts';
import type { Json } from './json.ts';
import { until } from './until.ts';
import { errorOf, openWorld } from './world.ts';

/** A world with a signed-in device and a linked machine, and short words for what sessions are asked. */
export async function openSessions(options: Partial<FakeDaemonOptions> = {}) {
  const world = await openWorld();
  const { token } = await world.signIn();
  const daemon = await world.daemon(token, options);
  const input = { agentId: 'demo', directory: '/work/place' };
  const t = {
    world,
    token,
    daemon,
    input,
    ok: (actionId: string, given: object = {}, context?: Partial<CallContext>) =>
      world.ok(token, actionId, given, context),
    fail: async (actionId: string, given: object = {}, context?: Partial<CallContext>) =>
      errorOf(await world.call(token, actionId, given, context)),
    spawn: async (more: object = {}) =>
      (await world.ok(token, 'session.spawn_new', { ...input, ...more })).sessionId as string,
    /** The token that the machine gets for the agent of a session. */
    agentToken: async (sessionId: string) =>
      (await daemon.peer.request('session.token', { sessionId }, 10_000)).token,
    /** Calls as the agent of a session, with a policy that lets it. */
    asAgent: (agent: string, actionId: string, given: object = {}) =>
      world.call(agent, actionId, given, { surface: 'agent' }),
    session: (sessionId: string) => world.store.sessions.get(sessionId),
    /** Parameters of the newest request of a kind that the machine got. */
    asked: (method: string): Json => daemon.requests.findLast((request) => request.method === method)?.params,
    async goOffline() {
      const left = until(world.store.feed, (entry) => entry.type === 'machine.changed' && !entry.online);
      await daemon.drop();
      await left;
    },
    end: () => world.end(),
  };
  return t;
}

export type SessionWorld = Awaited<ReturnType<typeof openSessions>>;

/** Lets agents start sessions unasked. */
export const letAgentsSpawn = (t: SessionWorld) =>
  t.ok('policy.set', { rules: { 'session.*': { agent: { enabled: true, approval: false } } } });
