import { expect, test } from 'vitest';
import { createWorld, makeHome, type World } from '../helpers/world.ts';

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
