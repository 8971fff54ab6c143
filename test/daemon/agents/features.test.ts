import { expect, test } from 'vitest';
import { toAddedAgent } from '../../../src/daemon/agents/added.ts';
import { createWorld, fakeAgent, makeHome, type World } from '../helpers/world.ts';

const featuresOf = async (world: World, agentId: string) => {
  const { agents } = await world.backend.request('agents.list', {});
  return agents.find((one) => one.agentId === agentId)?.features;
};

test('what an agent can do is known once it has started here, and after a restart of the daemon', async () => {
  const home = makeHome();
  const world = await createWorld({ home });
  expect(await featuresOf(world, 'demo')).toBeUndefined();
  await world.start('s1');
  const features = await featuresOf(world, 'demo');
  expect(features).toEqual(expect.arrayContaining(['close', 'steer', 'additional_directories', 'http_mcp']));
  await world.daemon.stop({ graceMs: 0 });
  const again = await createWorld({ home });
  expect(await featuresOf(again, 'demo')).toEqual(features);
});

test('which modes an added agent offers is known after a restart of the daemon too', async () => {
  const home = makeHome();
  const { command, args } = fakeAgent('own-modes');
  const added = [toAddedAgent('mine', { command, args })];
  const modesOf = async (world: World) => {
    const { agents } = await world.backend.request('agents.list', {});
    return agents.find((one) => one.agentId === 'mine')?.permissionModes;
  };
  const world = await createWorld({ home, added });
  expect(await modesOf(world)).toEqual(['default']);
  await world.start('s1', 'mine');
  const modes = await modesOf(world);
  expect(modes).toEqual(['default', 'plan', 'read_only', 'bypass']);
  await world.backend.request('session.stop', { sessionId: 's1' });
  const set = (permissionMode: 'accept_edits' | 'bypass') =>
    world.backend.request('session.set_mode', { sessionId: 's1', permissionMode });
  await expect(set('accept_edits')).rejects.toMatchObject({
    code: 'unsupported',
    hint: 'Use one of default, plan, read_only, bypass.',
  });
  await set('bypass');
  await world.daemon.stop({ graceMs: 0 });
  expect(await modesOf(await createWorld({ home, added }))).toEqual(modes);
});
