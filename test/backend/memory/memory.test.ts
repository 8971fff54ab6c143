import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { openWorld, type World } from '../helpers/world.ts';
import { createCalls, type Item } from './calls.ts';
import { PASSAGES, QUESTIONS } from './library.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const { ok, refused, learn, list, find } = createCalls(() => ({ world, token }));

describe('learning', () => {
  it('adds and never overwrites, and keeps where it came from', async () => {
    const context = { surface: 'mcp', client: 'mcp:claude-code' };
    const { item } = await ok(
      'learn',
      {
        text: 'We use vitest.',
        kind: 'preference',
        confidence: 0.9,
        tags: ['tests'],
        scope: { repo: 'billing' },
      },
      context,
    );
    expect(item).toMatchObject({
      kind: 'learning',
      learning_kind: 'preference',
      confidence: 0.9,
      sources: ['mcp:claude-code'],
      tags: ['tests'],
      repo: 'billing',
    });
    await learn('We use vitest.');
    expect((await list()).map(({ text }) => text)).toEqual(['We use vitest.', 'We use vitest.']);
    await world.restart();
    expect((await list())[1]).toEqual(item);
    expect(await find('vitest')).toHaveLength(2);
  });

  it('forty at once are forty', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => learn(`Fact number ${i} is about wolves.`)));
    expect(await list({ limit: 100 })).toHaveLength(40);
    expect(await find('wolves', { limit: 100 })).toHaveLength(40);
  });
});

const pathsOf = ({ details }: { details?: Record<string, unknown> }) =>
  ((details?.['issues'] ?? []) as { path: string }[]).map(({ path }) => path);

describe('arguments', () => {
  it.each([
    ['learn', { text: ' ' }, 'text'],
    ['learn', {}, 'text'],
    ['learn', { text: 'x', confidence: 1.1 }, 'confidence'],
    ['learn', { text: 'x', kind: 'rumour' }, 'kind'],
    ['learn', { text: 'x', scope: { filepath: 'a' } }, 'scope.filepath'],
    ['fetch', { query: 'x', limit: 0 }, 'limit'],
    ['fetch', { query: 'x', limit: 101 }, 'limit'],
    ['fetch', { query: '' }, 'query'],
    ['fetch', { query: 'x', mode: 'magic' }, 'mode'],
    ['fetch', { query: 'x', cursor: 'nonsense' }, 'cursor'],
    ['fetch', { query: 'x', filter: { kinds: ['dream'] } }, 'filter.kinds.0'],
    ['list', { filter: { observed_after: 'yesterday' } }, 'filter.observed_after'],
    ['list', { limit: 1000 }, 'limit'],
    ['recall', { question: '' }, 'question'],
    ['forget', { ids: [] }, 'ids'],
    ['forget', { ids: Array.from({ length: 101 }, (_, i) => `mem_${i}`) }, 'ids'],
    ['ingest', {}, 'path'],
    ['ingest', { path: 'a.md', text: 'x' }, 'path'],
    ['settings.set', { embeddings: { base_url: 'ftp://x', model: 'm' } }, 'embeddings.base_url'],
  ])('%s %j is refused at %s', async (verb, input, path) => {
    const error = await refused(verb, input);
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(pathsOf(error)).toContain(path);
  });
});

describe('finding', () => {
  it('finds what is asked for among the first five, in both languages', async () => {
    for (const text of Object.values(PASSAGES)) await learn(text);
    const missed: string[] = [];
    for (const { question, finds } of QUESTIONS) {
      const hits = await find(question, { limit: 5 });
      if (!hits.some(({ text }) => text === PASSAGES[finds])) missed.push(question);
    }
    console.log(`recall@5: ${QUESTIONS.length - missed.length} of ${QUESTIONS.length}`);
    expect(missed).toEqual([]);
  });

  it('pages without a gap or a double, also while more is learned', async () => {
    for (let i = 0; i < 25; i++) await learn(`Otters, part ${i}.`);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ok('fetch', { query: 'otters', limit: 10, ...(cursor && { cursor }) });
      seen.push(...(page['hits'] as Item[]).map(({ id }) => id));
      cursor = page['nextCursor'] as string | undefined;
      await learn('More about otters.');
    } while (cursor !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
  });

  it.each([
    [{ kinds: ['document'] }, ['doc']],
    [{ repo: 'a' }, ['one', 'two']],
    [{ repo: 'a', language: 'ts' }, ['two']],
    [{ tags_any: ['x', 'z'] }, ['one', 'two']],
    [{ tags_any: ['%'] }, []],
    [{ sources: ['mcp:cursor'] }, ['two']],
    [{ sources: ['mcp:curso'] }, []],
    [{ observed_after: '2126-01-01T00:00:00Z' }, []],
    [{ observed_before: '2126-01-01T00:00:00+02:00' }, ['doc', 'one', 'two']],
    [{ repo: 'b' }, []],
  ])('by %j gives %j', async (filter, expected) => {
    await ok('learn', { text: 'one', tags: ['x'], scope: { repo: 'a' } });
    await ok(
      'learn',
      { text: 'two', tags: ['x', 'z'], scope: { repo: 'a', language: 'ts' } },
      { surface: 'mcp', client: 'mcp:cursor' },
    );
    await ok('ingest', { text: 'doc' });
    expect((await list({ filter })).map(({ text }) => text).toSorted()).toEqual(expected);
    const found = await Promise.all(['one', 'two', 'doc'].map((word) => find(word, { filter })));
    expect(
      found
        .flat()
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(expected);
  });
});

describe('forgetting', () => {
  it('leaves nothing of the text in any file of the database', async () => {
    const { id } = await learn('The codeword is Zanzibar-Quokka-4711, said Wombat.');
    await ok('ingest', {
      text: 'Zanzibar-Quokka-4711 is the codeword of Wombat.',
      scope: { file_path: 'a.md' },
    });
    await learn('Something else.');
    expect(await ok('forget', { ids: [id, 'mem_nobody', id] })).toEqual({
      forgotten: [id],
      missing: ['mem_nobody'],
    });
    await ok('ingest', { text: 'Nothing left.', scope: { file_path: 'a.md' } });
    await ok('forget', { ids: [(await find('something'))[0]!.id] });
    // Not by a call, whose words the audit would keep.
    expect((await world.store.memory.search('quokka', {}, { limit: 10 })).items).toEqual([]);
    expect(await list()).toHaveLength(1);
    await world.backend.close();
    for (const name of readdirSync(world.home).filter((each) => each.startsWith('kaiwu.db'))) {
      const bytes = readFileSync(join(world.home, name), 'latin1').toLowerCase();
      expect(bytes.includes('left')).toBe(name === 'kaiwu.db');
      for (const word of ['zanzibar', 'quokka', 'wombat']) expect(bytes.includes(word)).toBe(false);
    }
  });
});

describe('an index that does not fit', () => {
  it('is built anew at the next start', async () => {
    await learn('Badgers dig.');
    await world.backend.close();
    const db = openSqlite(join(world.home, 'kaiwu.db'));
    db.exec('delete from memory_words');
    db.close();
    await world.restart();
    expect(await find('badgers')).toHaveLength(1);
  });
});

describe('when it is off', () => {
  it('every use is memory_off, and what was remembered is kept', async () => {
    await learn('Kept.');
    await ok('settings.set', { enabled: false });
    for (const [verb, input] of [
      ['learn', { text: 'x' }],
      ['list', {}],
      ['fetch', { query: 'x' }],
      ['recall', { question: 'x' }],
      ['forget', { ids: ['mem_1'] }],
      ['ingest', { text: 'x' }],
    ] as const) {
      expect(await refused(verb, input)).toMatchObject({ code: 'memory_off' });
    }
    await ok('settings.set', { enabled: true });
    expect(await list()).toHaveLength(1);
  });
});

describe('finished turns', () => {
  it('are remembered once each, from when it was asked for', async () => {
    await world.daemon(token);
    const input = { agentId: 'demo', directory: '/work/shop' };
    const { sessionId } = await world.ok(token, 'session.spawn_new', input);
    const send = (message: string) =>
      world.ok(token, 'session.message.send', { sessionId, message, wait: true, timeoutSeconds: 10 });
    await send('Say something about herons before.');
    await ok('settings.set', { remember_turns: true });
    await send('Say something about herons after.');
    await expect.poll(list).toHaveLength(1);
    await world.restart();
    const items = await list();
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      kind: 'conversation',
      thread_id: sessionId,
      agent_id: 'demo',
      workspace: '/work/shop',
      text: expect.stringContaining('herons after'),
    });
  });
});

describe('documents', () => {
  it('are cut into passages, all of which are found', async () => {
    const paragraphs = Array.from(
      { length: 30 },
      (_, i) => `Chapter ${i}. ${'The heron stands in the reeds. '.repeat(20)}`,
    );
    const { ids } = await ok('ingest', {
      text: paragraphs.join('\n\n'),
      tags: ['birds'],
      scope: { file_path: 'birds.md' },
    });
    expect((ids as string[]).length).toBeGreaterThan(10);
    const last = await find('chapter 29', { limit: 1 });
    expect(last[0]!.text).toContain('Chapter 29');
    const again = await ok('ingest', { text: 'Only swans now.', scope: { file_path: 'birds.md' } });
    expect(again).toMatchObject({ replaced: (ids as string[]).length });
    expect((await list({ filter: { kinds: ['document'] } })).map(({ text }) => text)).toEqual([
      'Only swans now.',
    ]);
    expect(await find('heron')).toEqual([]);
  });
});
