import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FeedEntry } from '../../../../src/core/feed.ts';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { newMessage, newSession } from '../make.ts';

export function feedSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
  });
  afterEach(() => world.end());

  test('entries are numbered, resumed by number and kept over a restart', async () => {
    const { feed } = world.store;
    expect(await feed.bounds()).toEqual({ oldest: 0, newest: 0 });
    expect(await feed.since(0, 10)).toEqual([]);
    for (let version = 1; version <= 5; version++) await feed.append({ type: 'policy.changed', version });
    const store = await world.reopen();
    await store.feed.append({ type: 'policy.changed', version: 6 });
    expect(await store.feed.bounds()).toEqual({ oldest: 1, newest: 6 });
    const entries = await store.feed.since(3, 2);
    const at = '2026-11-30T12:00:00.000Z';
    expect(entries).toStrictEqual([
      { type: 'policy.changed', version: 4, id: 4, at },
      { type: 'policy.changed', version: 5, id: 5, at },
    ]);
  });

  test('subscribers hear committed entries in order, and live ones that are not stored', async () => {
    const { feed, sessions, messages } = world.store;
    const heard: FeedEntry[] = [];
    const stop = feed.subscribe((entry) => heard.push(entry));
    feed.subscribe(() => {
      throw new Error('a subscriber that fails');
    });
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await sessions.insert(newSession(`sess_${i}`));
        await messages.insert(newMessage(`msg_${i}`, `sess_${i}`));
      }),
    );
    expect(heard.map((entry) => entry.id)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(await feed.since(0, 100)).toStrictEqual(heard);

    const delta = {
      type: 'delta',
      sessionId: 's',
      messageId: 'm',
      kind: 'text',
      block: 1,
      text: 'x',
    } as const;
    feed.tell(delta);
    expect(heard.at(-1)).toStrictEqual({ ...delta, at: '2026-11-30T12:00:00.000Z' });
    expect((await feed.bounds()).newest).toBe(40);
    stop();
    feed.tell(delta);
    expect(heard).toHaveLength(41);
  });

  test('a refused write leaves nothing, and the next one works', async () => {
    const { feed, sessions } = world.store;
    const heard: FeedEntry[] = [];
    feed.subscribe((entry) => heard.push(entry));
    await sessions.insert(newSession('sess_a'));
    await expect(sessions.insert(newSession('sess_a'))).rejects.toThrow(/unique|duplicate/i);
    await sessions.setTitle('sess_a', 'still works');
    expect(heard.map((entry) => entry.id)).toEqual([1, 2]);
    expect(await feed.since(0, 10)).toStrictEqual(heard);
  });

  test('closing waits for the writes that were asked for', async () => {
    const writes = Array.from({ length: 10 }, (_, i) => world.store.sessions.insert(newSession(`sess_${i}`)));
    const store = await world.reopen();
    await Promise.all(writes);
    expect((await store.sessions.list({}, { limit: 20 })).items).toHaveLength(10);
  });
}
