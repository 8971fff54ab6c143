import { expect, onTestFinished, test } from 'vitest';
import { refuse, startFakeMcp } from './http-fakes.ts';
import { createRuntimeWorld, hasFailed, isReady, namesOf, textOf } from './runtime-world.ts';

const server = (key: string, url: string, more = {}) => ({ key, config: { name: key, url, ...more } });

test('a server over HTTP that goes away is degraded, keeps its tools, and is well again when it is back', async () => {
  const world = createRuntimeWorld();
  const fake = await startFakeMcp();
  const port = Number(new URL(fake.url).port);
  world.runtime.apply([server('web', fake.url)]);
  expect(await world.until('web', isReady)).toMatchObject({ transport: 'http', starts: 1 });
  expect(textOf(await world.call('web', 'echo', { a: 1 }))).toBe('{"a":1}');
  await fake.close();
  await expect(world.call('web', 'echo')).rejects.toMatchObject({ code: 'mcp_server_unavailable' });
  const away = await world.until('web', ({ status }) => status === 'degraded');
  expect(away.reason).toMatch(/^listing: .*127\.0\.0\.1:\d+ cannot be used: nothing listens there/);
  expect(namesOf(away.tools)).toEqual(['echo']);
  const back = await startFakeMcp({ port });
  onTestFinished(() => back.close());
  expect(textOf(await world.call('web', 'echo', { a: 2 }))).toBe('{"a":2}');
  await world.until('web', isReady);
});

test('an address that nobody answers at fails with its reason, and a later attempt finds it', async () => {
  const world = createRuntimeWorld();
  const first = await startFakeMcp();
  const port = Number(new URL(first.url).port);
  await first.close();
  world.runtime.apply([server('late', `${first.url}?key=secret123`)]);
  const state = await world.until('late', hasFailed);
  expect(state.reason).toContain(`http://127.0.0.1:${port} cannot be used: nothing listens there`);
  expect(JSON.stringify(state)).not.toContain('secret1');
  const fake = await startFakeMcp({ port });
  onTestFinished(() => fake.close());
  await world.until('late', isReady);
});

test('a server that wants a sign-in is asked once, and no call asks it again', async () => {
  const world = createRuntimeWorld();
  let isOpen = false;
  const fake = await startFakeMcp({
    instead: (seen) => !isOpen && refuse(seen, 401, { 'www-authenticate': 'Bearer' }),
  });
  onTestFinished(() => fake.close());
  world.runtime.apply([server('closed', fake.url, { token: 'wrong-token-1' })]);
  const state = await world.until('closed', ({ status }) => status === 'sign_in_needed');
  expect(state.nextTryAt).toBeUndefined();
  const asked = fake.log.length;
  for (let i = 0; i < 20; i += 1) {
    await expect(world.call('closed', 'echo')).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
  }
  expect(fake.log.length).toBe(asked);
  isOpen = true;
  expect(await world.runtime.test('closed', new AbortController().signal)).toMatchObject({ status: 'ready' });
  isOpen = false;
  await expect(world.call('closed', 'echo')).rejects.toMatchObject({ code: 'mcp_sign_in_needed' });
  expect(world.state('closed').status).toBe('sign_in_needed');
});
