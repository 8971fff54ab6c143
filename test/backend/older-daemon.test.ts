import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentInfo } from '../../src/core/agent.ts';
import { demoAgent } from './helpers/fake-daemon.ts';
import type { Json } from './helpers/json.ts';
import { openWorld, type World } from './helpers/world.ts';

/** What daemons told of an agent before they knew states. */
const { state: _, source: __, ...older } = demoAgent;
const agents = [
  older,
  { ...older, agentId: 'absent', available: false, reason: 'It is not installed.' },
  { ...demoAgent, agentId: 'newer', features: ['fork', 'time_travel'] },
] as AgentInfo[];

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const known = async () =>
  (await world.ok(token, 'agents.backends.list')).agents.map((agent: Json) => [
    agent.agentId,
    agent.state,
    agent.source,
    agent.features,
  ]);

it('agents of an older daemon have the state that follows, and unknown features of a newer one are left out', async () => {
  const expected = [
    ['demo', 'ready', 'built_in', undefined],
    ['absent', 'not_installed', 'built_in', undefined],
    ['newer', 'ready', 'built_in', ['fork']],
  ];
  const daemon = await world.daemon(token, { agents });
  expect(await known()).toEqual(expected);
  await daemon.drop();
  await expect.poll(async () => (await world.store.machines.get('mach_one'))?.online).toBe(false);
  expect(await known()).toEqual(expected);
  // As a database holds it that an older backend wrote.
  await world.store.machines.setAgents('mach_one', agents.slice(0, 2));
  expect(await known()).toEqual(expected.slice(0, 2));
});
