import { expect, test } from 'vitest';
import { createRuntimeWorld, isReady, namesOf, textOf } from './runtime-world.ts';

test('a server is started, listed and called', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('home')]);
  const state = await world.until('home', isReady);
  expect(state).toMatchObject({
    transport: 'stdio',
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'fake', version: '1.0.0' },
    starts: 1,
    warnings: [],
  });
  expect(namesOf(state.tools)).toContain('echo');
  const result = await world.call('home', 'echo', { text: '— 漢 🧑‍🚀' });
  expect(result).toEqual({
    content: [{ type: 'text', text: '— 漢 🧑‍🚀' }],
    structuredContent: { said: '— 漢 🧑‍🚀' },
  });
  expect(textOf(result)).toBe('— 漢 🧑‍🚀');
});
