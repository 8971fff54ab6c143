import { afterEach, beforeEach, expect, it } from 'vitest';
import { type EventReader, openEvents } from './helpers/sse.ts';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
const readers: EventReader[] = [];

beforeEach(async () => {
  world = await openWorld();
  for (const [sessionId, parentSessionId] of [
    ['sess_root'],
    ['sess_child', 'sess_root'],
    ['sess_other'],
  ] as const) {
    await insert(sessionId, parentSessionId);
  }
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await world.end();
});

const insert = (sessionId: string, parentSessionId?: string) =>
  world.store.sessions.insert({
    sessionId,
    agentId: 'demo',
    machineId: 'mach_1',
    directory: '/x',
    permissionMode: 'default',
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
  });

async function follow(
  sessionId: string,
  options: Parameters<typeof openEvents>[2] = {},
): Promise<EventReader> {
  const reader = await openEvents(world.url, await world.makeToken({ scope: { sessionId } }), options);
  readers.push(reader);
  await reader.count(1);
  return reader;
}

const idsOf = (entries: { event?: string; data: { sessionId?: string } }[]) =>
  entries.slice(1).map(({ event, data }) => data.sessionId ?? event);

it('a token for one session hears of it and of what it starts, at any depth, live and from the store, and of no other', async () => {
  const root = await follow('sess_root');
  const child = await follow('sess_child');
  await insert('sess_grand', 'sess_child');
  await insert('sess_stranger', 'sess_other');
  await insert('sess_sibling', 'sess_root');
  world.store.feed.tell({
    type: 'delta',
    sessionId: 'sess_other',
    messageId: 'm',
    kind: 'text',
    block: 1,
    text: 'not for them',
  });
  for (const sessionId of ['sess_other', 'sess_root', 'sess_child'])
    await world.store.sessions.setTitle(sessionId, 'x');
  await world.store.feed.append({ type: 'mcp_server.changed', name: 'not_for_sessions' });
  await world.store.feed.append({ type: 'policy.changed', version: 9 });
  expect(idsOf(await root.count(6))).toEqual([
    'sess_grand',
    'sess_sibling',
    'sess_root',
    'sess_child',
    'policy.changed',
  ]);
  expect(idsOf(await child.count(4))).toEqual(['sess_grand', 'sess_child', 'policy.changed']);
  const again = await openEvents(world.url, await world.makeToken({ scope: { sessionId: 'sess_child' } }), {
    lastEventId: '0',
  });
  readers.push(again);
  const resumed = await again.count(4);
  expect(resumed.map(({ data }) => data.sessionId).filter((id) => id !== undefined)).toEqual([
    'sess_child',
    'sess_grand',
    'sess_child',
  ]);
});
