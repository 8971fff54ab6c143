import { expect, test } from 'vitest';
import { MANAGED_LIMITS } from '../../src/core/managed/managed.ts';
import { createRuntimeWorld, isReady, namesOf } from './runtime-world.ts';

const named = (count: number) => Array.from({ length: count }, (_, i) => `tool_${i}`);
const listsOf = (journal: { list?: number }[]) => journal.filter(({ list }) => list !== undefined).length;

test('all pages are read', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('paged', { tools: named(14), pageSize: 8 })]);
  const { tools, warnings } = await world.until('paged', isReady);
  expect(namesOf(tools)).toEqual(named(14));
  expect(warnings).toEqual([]);
});

test('a cursor that comes again ends the listing, with what is there and a warning', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('looping', { tools: named(14), pageSize: 8, list: 'same cursor' })]);
  const { tools, warnings } = await world.until('looping', isReady);
  expect(namesOf(tools)).toEqual(named(8));
  expect(warnings.join()).toMatch(/same cursor/);
  expect(listsOf(world.journal('looping'))).toBe(2);
});

test('a listing without end stops at the limit of pages', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('endless', { pageSize: 1, list: 'endless', capabilities: {} })]);
  const { warnings } = await world.until('endless', isReady);
  expect(warnings.join()).toMatch(/more than 200 pages/);
  expect(listsOf(world.journal('endless'))).toBe(MANAGED_LIMITS.pages);
});

test('tools that are none, too large, double or too many are left out, each with its reason; the others stay', async () => {
  const world = createRuntimeWorld();
  const tools = [
    'good',
    { name: 'plain' },
    { description: 'no name' },
    { name: 7 },
    { name: 'x'.repeat(300), inputSchema: {} },
    { name: 'odd', inputSchema: 'none' },
    { name: 'huge', inputSchema: {}, weight: MANAGED_LIMITS.definition },
    { name: 'good', inputSchema: { type: 'object' }, description: 'another' },
    {
      name: 'kept',
      title: 'T',
      description: 'D',
      inputSchema: {},
      outputSchema: {},
      annotations: { readOnlyHint: true },
      _meta: {},
    },
  ];
  world.runtime.apply([world.fake('odd', { tools })]);
  const state = await world.until('odd', isReady);
  expect(namesOf(state.tools)).toEqual(['good', 'plain', 'kept']);
  expect(state.tools?.[1]).toEqual({ name: 'plain', inputSchema: { type: 'object' } });
  expect(state.tools?.[2]).toEqual({
    name: 'kept',
    title: 'T',
    description: 'D',
    inputSchema: {},
    outputSchema: {},
    annotations: { readOnlyHint: true },
  });
  const warnings = state.warnings.join('\n');
  for (const word of ['without a name', '300 characters', '"odd"', '"huge"', 'more than once']) {
    expect(warnings).toContain(word);
  }
});

test('one damaged tool spoils nothing in the newer generation either', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('odd', { era: 'new', tools: ['good', { name: 'plain' }, { name: 5 }] })]);
  expect(namesOf((await world.until('odd', isReady)).tools)).toEqual(['good', 'plain']);
});

test('more than a thousand tools are cut, and so are too many bytes', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([
    world.fake('many', { count: 1200 }),
    world.fake('heavy', { count: 100, weight: 100_000 }),
  ]);
  const many = await world.until('many', isReady);
  expect(many.tools).toHaveLength(MANAGED_LIMITS.tools);
  expect(many.warnings.join()).toMatch(/more than 1000 tools/);
  const cut = await world.until('heavy', isReady);
  expect(cut.tools!.length).toBeLessThan(50);
  expect(cut.warnings.join()).toMatch(/more than 4194304 bytes/);
});

test('an empty answer is asked again, and not kept', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([
    world.fake('slow', { emptyLists: 2, tools: ['a'] }),
    world.fake('empty', { tools: [] }),
  ]);
  expect(namesOf((await world.until('slow', isReady)).tools)).toEqual(['a']);
  const empty = await world.until('empty', isReady);
  expect(empty.tools).toBeUndefined();
  expect(empty.warnings.join()).toMatch(/lists no tools/);
  expect(listsOf(world.journal('empty'))).toBe(4);
});

test('tools of an earlier listing are offered until there is a fresh one, and kept while listing fails', async () => {
  const world = createRuntimeWorld();
  const cached = [{ name: 'cached', inputSchema: { type: 'object' } }];
  world.runtime.apply([
    { ...world.fake('fresh', { tools: ['a'], readyMs: 500 }), cached },
    { ...world.fake('broken', { list: 'error' }), cached },
    { ...world.fake('hollow', { tools: [] }), cached },
  ]);
  expect(world.state('fresh')).toMatchObject({ status: 'starting', tools: cached });
  const broken = await world.until('broken', ({ status }) => status === 'degraded');
  expect(broken).toMatchObject({ tools: cached, reason: 'listing: the list is broken' });
  const hollow = await world.until('hollow', ({ status }) => status === 'degraded');
  expect(hollow).toMatchObject({ tools: cached });
  expect(hollow.reason).toMatch(/^listing: it lists no tools any more/);
  expect(namesOf((await world.until('fresh', isReady)).tools)).toEqual(['a']);
  // Its tools can be called all the same.
  expect(await world.call('broken', 'echo')).toMatchObject({ structuredContent: { said: 'echo' } });
});

test.each([
  ['nonsense', /no list of tools/],
  ['never', /did not end within 1 s/],
] as const)('a listing that is %s is told as such', async (list, reason) => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('bad', { list }, { listTimeoutSeconds: 1 })]);
  expect((await world.until('bad', ({ status }) => status === 'degraded')).reason).toMatch(reason);
});

test('changes are followed, and a flood of them makes few listings', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('lively', { tools: ['grow', 'echo'] })]);
  await world.until('lively', isReady);
  await world.call('lively', 'grow', { name: 'one', times: 1 });
  await world.until('lively', ({ tools }) => namesOf(tools).includes('one'));
  await world.call('lively', 'grow', { name: 'two', times: 2000 });
  await world.until('lively', ({ tools }) => namesOf(tools).includes('two'));
  expect(listsOf(world.journal('lively'))).toBeLessThanOrEqual(4);
});

test('a listing that breaks later keeps the tools of before', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('fickle', { tools: ['grow', 'echo'], failAfter: 1 })]);
  await world.until('fickle', isReady);
  await world.call('fickle', 'grow');
  const state = await world.until('fickle', ({ status }) => status === 'degraded');
  expect(namesOf(state.tools)).toEqual(['grow', 'echo']);
});

test('a server without tools is ready, and asked once', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('prompts', { capabilities: { prompts: {} }, tools: [] })]);
  const state = await world.until('prompts', isReady);
  expect(state).toMatchObject({ tools: [], warnings: ['It offers no tools.'] });
  expect(listsOf(world.journal('prompts'))).toBe(1);
});
