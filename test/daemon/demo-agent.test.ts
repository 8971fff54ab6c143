import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assertGapless, createWorld } from './helpers/world.ts';

test('the demo agent says, lists, sleeps and echoes, and each turn has one end', async () => {
  const world = await createWorld();
  writeFileSync(join(world.workspace, 'README.md'), 'x');
  mkdirSync(join(world.workspace, 'src'));
  await world.start('s1');
  const started = await world.backend.event('s1', 'session_started');
  expect(started).toMatchObject({ resumed: 'new', permissionMode: 'default', modelId: 'demo-1' });
  expect(started.models.map((model) => model.id)).toEqual(['demo-1', 'demo-2']);

  const long = 'a longer text — 漢字 🧑‍🚀 e\u0301 '.repeat(40).trim();
  expect(await world.turn('s1', `say ${long}`)).toMatchObject({
    outcome: 'completed',
    reply: long,
    stopReason: 'end_turn',
  });
  expect(await world.turn('s1', 'ls')).toMatchObject({ outcome: 'completed', reply: 'README.md\nsrc/' });
  expect(await world.turn('s1', 'sleep 1.2')).toMatchObject({ outcome: 'completed', reply: 'awake' });
  expect(await world.turn('s1', 'hello there')).toMatchObject({ outcome: 'completed', reply: 'hello there' });
  expect(world.backend.deltas.some((delta) => delta.kind === 'text')).toBe(true);

  const events = world.backend.events('s1');
  assertGapless(events);
  expect(events.filter((event) => event.type === 'user_message')).toHaveLength(4);
  expect(events.filter((event) => event.type === 'turn_ended')).toHaveLength(4);
});

test('the demo agent calls tools of the MCP servers that its session is given', async () => {
  const server = join(import.meta.dirname, 'fakes/mcp-server.mjs');
  const world = await createWorld({
    mcpServers: ({ sessionId }) => [
      { name: 'gone', command: '/nowhere/at/all', args: [], env: [] },
      { name: 'fake', command: process.execPath, args: [server], env: [{ name: 'WHO', value: sessionId }] },
    ],
  });
  await world.start('s1');
  expect(JSON.parse((await world.turn('s1', 'tool add {"a": 2, "b": 3}')).reply)).toEqual({
    sum: 5,
    who: 's1',
  });
  expect(JSON.parse((await world.turn('s1', 'tool subtract {}')).reply)).toMatchObject({
    error: expect.stringContaining('subtract'),
    problems: [expect.stringContaining('gone')],
  });
  expect(JSON.parse((await world.turn('s1', 'tool add {nonsense')).reply)).toMatchObject({
    error: expect.stringContaining('not JSON'),
  });
  const call = world.backend
    .events('s1')
    .find((event) => event.type === 'tool_call' && event.title === 'Call add');
  expect(call).toMatchObject({ kind: 'other', status: 'in_progress' });
});
