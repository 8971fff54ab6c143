import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDatabase, World } from '../databases.ts';
import { openWorld } from '../databases.ts';
import { agentText, newSession, readAll, toEvents } from '../make.ts';

export function transcriptsSuite(database: TestDatabase): void {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(database);
    for (const id of ['sess_a', 'sess_b']) await world.store.sessions.insert(newSession(id));
  });
  afterEach(() => world.end());

  /** Each text at its own second. */
  const say = async (sessionId: string, ...texts: string[]): Promise<void> => {
    for (const text of texts) {
      const { lastSeq } = await world.store.sessions.get(sessionId);
      await world.store.transcripts.append(sessionId, toEvents(world.runtime, lastSeq + 1, agentText(text)));
      world.runtime.advance(1000);
    }
  };
  const found = async (query: string, sessionId?: string): Promise<string[]> => {
    const filter = sessionId === undefined ? {} : { sessionId };
    const { items } = await world.store.transcripts.search(query, filter, { limit: 50 });
    return items.map((item) => item.excerpt);
  };

  test('pages go on from a place, back from a place, or show the newest', async () => {
    await say('sess_a', ...Array.from({ length: 10 }, (_, i) => `text ${i + 1}`));
    const { transcripts } = world.store;
    await transcripts.append('sess_a', toEvents(world.runtime, 11, { type: 'notice', text: 'note' }));
    const seqs = async (range: { after?: number; before?: number; limit: number; types?: string[] }) =>
      (await transcripts.page('sess_a', range)).events.map((event) => event.seq);
    expect(await seqs({ limit: 3 })).toEqual([9, 10, 11]);
    expect(await seqs({ after: 0, limit: 3 })).toEqual([1, 2, 3]);
    expect(await seqs({ after: 3, limit: 3 })).toEqual([4, 5, 6]);
    expect(await seqs({ after: 11, limit: 3 })).toEqual([]);
    expect(await seqs({ before: 9, limit: 3 })).toEqual([6, 7, 8]);
    expect(await seqs({ after: 2, before: 5, limit: 9 })).toEqual([3, 4]);
    expect(await seqs({ limit: 3, types: ['notice'] })).toEqual([11]);
    expect(await seqs({ after: 0, limit: 2, types: ['notice', 'agent_text'] })).toEqual([1, 2]);
    expect((await transcripts.page('sess_a', { after: 99, limit: 1 })).lastSeq).toBe(11);
    expect(await transcripts.page('sess_b', { limit: 1 })).toEqual({ events: [], lastSeq: 0 });
    await expect(transcripts.page('sess_none', { limit: 1 })).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });

  test('search finds text of any script and case, newest first', async () => {
    await say('sess_a', 'Der FUCHS springt', '修复登录页面的错误', 'ПРИВЕТ мир', 'cafe\u0301 ΟΔΟΣ');
    await say('sess_b', 'ein fuchs');
    expect(await found('fuchs')).toEqual(['ein fuchs', 'Der FUCHS springt']);
    expect(await found('FUCHS', 'sess_a')).toEqual(['Der FUCHS springt']);
    expect(await found('登录')).toEqual(['修复登录页面的错误']);
    expect(await found('登录页面')).toHaveLength(1);
    expect(await found('привет')).toEqual(['ПРИВЕТ мир']);
    // One form for what looks the same, and a sigma is a sigma wherever it stands.
    expect(await found('CAFÉ')).toHaveLength(1);
    expect(await found('οδος')).toHaveLength(1);
    expect(await found('登陆')).toEqual([]);
  });

  test('wildcards and quotes mean themselves', async () => {
    await say(
      'sess_a',
      'done 100%',
      'snake_case',
      'back\\slash',
      "it's",
      'done 100 of',
      'snakeXcase',
      'nul\0end',
    );
    expect(await found('100%')).toEqual(['done 100%']);
    expect(await found('%')).toEqual(['done 100%']);
    expect(await found('e_c')).toEqual(['snake_case']);
    expect(await found('\\')).toEqual(['back\\slash']);
    expect(await found("'")).toEqual(["it's"]);
    expect(await found("' or 1=1 --")).toEqual([]);
    expect(await found('end')).toEqual(['nul end']);
  });

  test('an excerpt shows the match in at most 200 characters', async () => {
    const filler = '😀'.repeat(400);
    await say('sess_a', `${filler}Nadel${filler}`, `Nadel${filler}`, `${filler}Nadel`);
    const excerpts = await found('nadel');
    expect(excerpts).toHaveLength(3);
    for (const excerpt of excerpts) {
      expect(excerpt).toContain('Nadel');
      expect(excerpt.length).toBeLessThanOrEqual(200);
      // No character is cut in two.
      expect(() => encodeURIComponent(excerpt)).not.toThrow();
    }
    expect(excerpts[1]?.startsWith('Nadel')).toBe(true);
    expect(excerpts[1]?.endsWith('…')).toBe(true);
    expect(excerpts[0]?.startsWith('…')).toBe(true);
  });

  test('search pages hold every match once while others are added', async () => {
    const texts = Array.from({ length: 9 }, (_, i) => `match ${i}`);
    await say('sess_a', ...texts);
    await say('sess_b', 'match b', 'nothing');
    const { transcripts } = world.store;
    const read = await readAll(
      (page) => transcripts.search('MATCH', {}, page),
      3,
      () => say('sess_b', 'match later'),
    );
    expect(read.map((match) => match.excerpt)).toEqual(['match b', ...texts.toReversed()]);
    expect(read[1]).toStrictEqual({
      sessionId: 'sess_a',
      seq: 9,
      at: '2026-11-30T12:00:08.000Z',
      type: 'agent_text',
      excerpt: 'match 8',
    });
  });

  test('a query too long to search for is refused', async () => {
    const sent = world.store.transcripts.search('x'.repeat(100_000), {}, { limit: 1 });
    await expect(sent).rejects.toMatchObject({ code: 'invalid_input' });
  });
}
