import { expect, onTestFinished, test, vi } from 'vitest';
import { createRuntimeWorld, hasFailed, isReady, textOf } from './runtime-world.ts';

const startsOf = (journal: { start?: number }[]) => journal.filter(({ start }) => start !== undefined).length;

test('twelve callers at once get each its own answer, over one process', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('shared')]);
  const waits = Array.from({ length: 24 }, (_, i) => 20 * ((i * 7) % 12) + i);
  const answers = await Promise.all(waits.map((ms) => world.call('shared', 'sleep', { ms })));
  expect(answers.map(textOf)).toEqual(waits.map((ms) => `slept ${ms}`));
  expect(startsOf(world.journal('shared'))).toBe(1);
});

test('1,200 notifications before an answer, strays and doubles do not hide it', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('talker')]);
  expect(textOf(await world.call('talker', 'many', { notifications: 1200 }))).toBe('after all of them');
  expect(textOf(await world.call('talker', 'stray'))).toBe('for you');
  expect(textOf(await world.call('talker', 'batch', { text: 'in a batch' }))).toBe('in a batch');
});

test('one failing server among three changes nothing for the others', async () => {
  const world = createRuntimeWorld();
  const nowhere = { key: 'nowhere', config: { name: 'nowhere', command: 'no-such-program' } };
  world.runtime.apply([world.fake('a'), nowhere, world.fake('b')]);
  await Promise.all([
    world.until('a', isReady),
    world.until('b', isReady),
    world.until('nowhere', hasFailed),
  ]);
  expect(textOf(await world.call('a', 'echo', { text: 'a' }))).toBe('a');
  expect(textOf(await world.call('b', 'echo', { text: 'b' }))).toBe('b');
});

test('a call that is canceled is told to the server by its own id, with no word of ours; its late answer is ignored', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  const cancel = new AbortController();
  const slow = world.call('one', 'sleep', { ms: 300 }, cancel.signal);
  await expect.poll(() => world.journal('one').some(({ got }) => got === 'tools/call')).toBe(true);
  cancel.abort(new Error('internal name'));
  await expect(slow).rejects.toMatchObject({ code: 'canceled' });
  // Ends after the canceled one would have been answered.
  expect(textOf(await world.call('one', 'sleep', { ms: 400 }))).toBe('slept 400');
  const journal = world.journal('one');
  const asked = journal.find(({ got }) => got === 'tools/call');
  const told = journal.filter(({ got }) => got === 'notifications/cancelled');
  expect(told.map(({ params }) => params)).toEqual([{ requestId: asked?.id, reason: 'canceled' }]);
  const gone = AbortSignal.abort();
  await expect(world.call('one', 'echo', {}, gone)).rejects.toMatchObject({ code: 'canceled' });
});

test('a call ends at its own limit, whatever noise the server makes, and the server is told', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('noisy', {}, { timeoutSeconds: 1 })]);
  await world.until('noisy', isReady);
  const begun = performance.now();
  const slow = world.call('noisy', 'noise', { everyMs: 20 });
  await expect(slow).rejects.toMatchObject({ code: 'timeout' });
  await expect(slow).rejects.toThrow(/noisy: "noise" did not answer within 1 s/);
  expect(performance.now() - begun).toBeLessThan(2500);
  await expect
    .poll(() => world.journal('noisy').some(({ got }) => got === 'notifications/cancelled'))
    .toBe(true);
  expect(textOf(await world.call('noisy', 'echo'))).toBe('echo');
});

test('what the server refuses or garbles is a failed tool; a result that is an error is a result', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('odd', { says: 'no \u202e such thing' })]);
  await expect(world.call('odd', 'refuse')).rejects.toMatchObject({
    code: 'tool_failed',
    message: 'odd: "refuse" failed: no \\u202e such thing (-32603)',
  });
  await expect(world.call('odd', 'garbage')).rejects.toMatchObject({ code: 'tool_failed' });
  expect(await world.call('odd', 'error')).toMatchObject({ isError: true });
});

test('a server that fails every call is degraded, and well again after one that works', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('bad')]);
  await world.until('bad', isReady);
  for (let i = 0; i < 3; i += 1) await world.call('bad', 'refuse').catch(() => {});
  expect(await world.until('bad', ({ status }) => status === 'degraded')).toMatchObject({
    reason: expect.stringMatching(/^calls: .*not today/) as string,
  });
  await world.call('bad', 'echo');
  await world.until('bad', isReady);
});

test('a hundred calls of a missing tool connect nothing anew and degrade nothing', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  const calls = Array.from({ length: 100 }, () =>
    world.call('one', 'missing').catch((error: unknown) => error),
  );
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: 'tool_failed' });
  expect(world.state('one')).toMatchObject({ status: 'ready', starts: 1 });
  expect(startsOf(world.journal('one'))).toBe(1);
});

test('calls that are open when the server dies fail, are not run again, and it comes back by itself', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('mortal')]);
  await world.until('mortal', isReady);
  const open = world.call('mortal', 'never');
  await expect.poll(() => world.journal('mortal').some(({ got }) => got === 'tools/call')).toBe(true);
  await expect(world.call('mortal', 'die')).rejects.toThrow(/exit code 3.*not known/);
  await expect(open).rejects.toMatchObject({ code: 'tool_failed' });
  expect(await world.until('mortal', hasFailed)).toMatchObject({
    reason: 'command: it ended with exit code 3.',
    tools: expect.any(Array) as unknown,
    nextTryAt: expect.any(String) as string,
  });
  await world.until('mortal', isReady);
  expect(world.journal('mortal').filter(({ got }) => got === 'tools/call')).toHaveLength(2);
});

test('a close in the middle of a call ends the call', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  const open = world.call('one', 'never');
  const failure = open.catch((error: Error) => error.message);
  await world.runtime.close();
  expect(await failure).toMatch(/cut off: it was stopped/);
  await expect(world.call('one', 'echo')).rejects.toMatchObject({ code: 'mcp_server_not_found' });
});

test('what the server asks of us is answered: a ping, and no to the rest', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('curious')]);
  expect(textOf(await world.call('curious', 'ping'))).toBe('{}');
  expect(textOf(await world.call('curious', 'sample'))).toBe('-32601');
});

test('a call connects first where that is due, and waits for it', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('late', { readyMs: 400 })]);
  expect(textOf(await world.call('late', 'echo'))).toBe('echo');
  const cancel = new AbortController();
  world.runtime.apply([world.fake('later', { readyMs: 5000 })]);
  const waiting = world.call('later', 'echo', {}, cancel.signal);
  cancel.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'canceled' });
});

test('a server that stops reading is given up when too much waits for it', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('stuck')]);
  await world.call('stuck', 'pause');
  const text = 'x'.repeat(12 * 1024 * 1024);
  const calls = Array.from({ length: 5 }, () =>
    world.call('stuck', 'echo', { text }).catch((error: unknown) => error),
  );
  for (const error of await Promise.all(calls))
    expect(error).toMatchObject({ code: expect.stringMatching(/tool_failed|unavailable/) as string });
  expect((await world.until('stuck', hasFailed)).reason).toMatch(/does not read its input/);
  const huge = 'x'.repeat(17 * 1024 * 1024);
  await world.until('stuck', isReady);
  await expect(world.call('stuck', 'echo', { text: huge })).rejects.toMatchObject({
    code: 'payload_too_large',
  });
});

test('a test connects anew and lists; while others call, it lists over the connection that stands', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  const signal = new AbortController().signal;
  expect(await world.runtime.test('one', signal)).toMatchObject({ status: 'ready', starts: 2 });
  const open = world.call('one', 'sleep', { ms: 300 });
  expect(await world.runtime.test('one', signal)).toMatchObject({ status: 'ready', starts: 2 });
  expect(textOf(await open)).toBe('slept 300');
  await expect(world.runtime.test('none', signal)).rejects.toMatchObject({ code: 'mcp_server_not_found' });
  await expect(world.runtime.test('one', AbortSignal.abort())).rejects.toMatchObject({ code: 'canceled' });
});

test('a call without a limit of its own ends after 600 s', async () => {
  const world = createRuntimeWorld();
  world.runtime.apply([world.fake('one')]);
  await world.until('one', isReady);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let ended: unknown;
  const call = world.call('one', 'never').catch((error: unknown) => {
    ended = error;
  });
  await vi.advanceTimersByTimeAsync(599_000);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2000);
  await call;
  vi.useRealTimers();
  expect(ended).toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('within 600 s') as string,
  });
});
