import { expect, test } from 'vitest';
import { useCrew } from '../crew.ts';
import type { TestDatabase } from '../databases.ts';
import { file, newApproval, newSession } from '../make.ts';
import { spawnChild } from '../spawn-child.ts';

export function processesSuite(database: TestDatabase): void {
  const crew = useCrew(database);

  test('of several processes, exactly one makes each move', async () => {
    const { approvals } = crew.world.store;
    const ids = Array.from({ length: 50 }, (_, i) => `a-${i}`);
    for (const id of ids) await file(crew.world.store, newApproval(id, crew.world.runtime));
    await crew.start('approve', 4);
    const winners = new Map<string, string>();
    for (const [i, child] of crew.children.entries()) {
      for (let id = await child.line(); id !== 'done'; id = await child.line()) {
        expect([...winners.keys()]).not.toContain(id);
        winners.set(id, `p${i}`);
      }
    }
    expect([...winners.keys()].sort()).toEqual([...ids].sort());
    for (const id of ids) expect((await approvals.get(id))?.decidedBy).toBe(winners.get(id));
  });

  test('processes that open a new database at one moment all succeed', async () => {
    await crew.world.store.close();
    await database.remove(crew.world.location);
    const location = await database.create();
    crew.children = Array.from({ length: 4 }, () => spawnChild('open', database.name, location));
    for (const child of crew.children) expect(await child.line()).toBe('ready');
    for (const child of crew.children) child.go();
    for (const child of crew.children) expect(await child.line()).toBe('opened');
    crew.world.location = location;
    crew.world.store = await database.open(location, crew.world.runtime);
    expect((await crew.world.store.feed.bounds()).newest).toBe(4);
  });

  test('kill -9 in the middle of appends leaves whole batches, and all that were acknowledged', async () => {
    await crew.world.store.sessions.insert(newSession('sess_a'));
    const writer = spawnChild('append', database.name, crew.world.location);
    crew.children = [writer];
    for (let i = 0; i < 5; i++) await writer.line();
    const acked = Number(await writer.line());
    await writer.kill();

    const store = await crew.world.reopen();
    const { lastSeq, modelId } = await store.sessions.get('sess_a');
    expect(lastSeq).toBeGreaterThanOrEqual(acked);
    expect(lastSeq % 200).toBe(0);
    expect(modelId).toBe(`batch ${lastSeq / 200 - 1}`);
    const { events } = await store.transcripts.page('sess_a', { after: 0, limit: lastSeq + 1000 });
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: lastSeq }, (_, i) => i + 1));
    const { newest } = await store.feed.bounds();
    const [last] = await store.feed.since(newest - 1, 1);
    expect(last).toMatchObject({ type: 'transcript.appended', toSeq: lastSeq });
  });
}
