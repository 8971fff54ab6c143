import { expect, test } from 'vitest';
import { createRuntimeWorld, hasFailed, isReady, textOf } from './runtime-world.ts';

const startsOf = (journal: { start?: number }[]) => journal.filter(({ start }) => start !== undefined).length;

test.each([
  ['answers -32601 to the newer generation', {}, '2025-11-25'],
  ['answers -32602 to it', { atProbe: -32602 as const }, '2025-11-25'],
  ['knows it alone', { era: 'new' as const }, '2026-07-28'],
  ['speaks an older revision', { version: '2024-11-05' }, '2024-11-05'],
])('a server that %s is connected with one process', async (_, how, revision) => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one', how)]);
  expect(await world.until('one', isReady)).toMatchObject({ protocolVersion: revision, starts: 1 });
  expect(textOf(await world.call('one', 'echo', { text: 'hi' }))).toBe('hi');
  expect(startsOf(world.journal('one'))).toBe(1);
});

test('a server that says nothing to the newer generation is of the older one, long before its start limit', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('silent', { atProbe: 'silent' }, { startTimeoutSeconds: 4 })]);
  expect(await world.until('silent', isReady)).toMatchObject({ protocolVersion: '2025-11-25', starts: 1 });
  expect(startsOf(world.journal('silent'))).toBe(1);
});

test('a server that ends at the first question that it does not know is started once more, in the older way', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('old', { atProbe: 'exit' })]);
  expect(await world.until('old', isReady)).toMatchObject({ protocolVersion: '2025-11-25', starts: 2 });
  expect(world.told.filter(({ status }) => status === 'failed')).toEqual([]);
});

test('a server of the newer generation that is slow to start is not taken for an old one', async () => {
  const world = createRuntimeWorld();
  // Asked in both ways by the time it reads.
  const slow = world.fake('slow', { era: 'new', readyMs: 2500 }, { startTimeoutSeconds: 4 });
  // Answers the question of the newer generation after the handshake was sent, and refuses that one later.
  const late = world.fake(
    'late',
    { era: 'new', discoverMs: 2500, initialize: 'never' },
    { startTimeoutSeconds: 4 },
  );
  world.runtime.apply([slow, late]);
  expect(await world.until('slow', isReady)).toMatchObject({ protocolVersion: '2026-07-28', starts: 1 });
  expect(await world.until('late', isReady)).toMatchObject({ protocolVersion: '2026-07-28', starts: 1 });
});

test('a server of a generation to come says so', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('future', { era: 'new', atProbe: -32602, supported: ['2031-01-01'] })]);
  const { reason } = await world.until('future', hasFailed);
  expect(reason).toContain('protocol:');
  expect(reason).toContain('2031-01-01');
});

test('a server that answers with an unknown revision says which', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('odd', { version: '1999-01-01' })]);
  expect((await world.until('odd', hasFailed)).reason).toMatch(/^protocol: .*1999-01-01/);
});

test('each request of the newer generation says who asks, and changes of the list are subscribed to', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('new', { era: 'new' })]);
  await world.until('new', isReady);
  await world.call('new', 'grow', { name: 'novel' });
  await world.until('new', ({ tools = [] }) => tools.some(({ name }) => name === 'novel'));
  const asked = world.journal('new').filter(({ got }) => got === 'tools/call' || got === 'tools/list');
  expect(asked.length).toBeGreaterThanOrEqual(3);
  for (const { params } of asked) {
    expect(params?._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'kaiwu' },
    });
  }
  expect(world.journal('new').map(({ got }) => got)).toContain('subscriptions/listen');
});

test('a result of the newer generation that asks for more, or that is a list, is told as what it is', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('new', { era: 'new' })]);
  await expect(world.call('new', 'input')).rejects.toMatchObject({ code: 'tool_failed' });
  expect(await world.call('new', 'plain')).toEqual({ content: [{ type: 'text', text: '[1,2]' }] });
});
