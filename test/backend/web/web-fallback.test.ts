import { afterEach, beforeEach, expect, it } from 'vitest';
import { errorOf, openWorld, type World } from '../helpers/world.ts';
import { type FakeProvider, startFakeProvider } from './fake-providers.ts';

let world: World;
let token: string;
const running: FakeProvider[] = [];
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(async () => {
  await world.end();
  await Promise.all(running.splice(0).map((each) => each.close()));
});

async function searx(id: string, isSilent: boolean): Promise<FakeProvider> {
  const fake = await startFakeProvider({ results: [{ title: 'One', url: 'https://one.example/' }] });
  running.push(fake);
  if (isSilent) fake.reply = undefined;
  const input = { id, kind: 'searxng', base_url: fake.url, timeout_seconds: 300 };
  await world.ok(token, 'provider.set', input);
  return fake;
}

it('slow ones share the time that the caller has, so that one after them still serves', async () => {
  await searx('slow', true);
  await searx('slower', true);
  await searx('good', false);
  const out = await world.call(token, 'web.search', { query: 'q' }, { maxWaitSeconds: 5 });
  expect(out).toMatchObject({
    output: { provider: 'good', failed: [{ provider: 'slow' }, { provider: 'slower' }] },
  });
}, 20_000);

it('one that is removed while it is asked is said to be', async () => {
  const slow = await searx('slow', true);
  const asked = new Promise<void>((resolve) => {
    slow.reply = () => {
      resolve();
      return undefined as never;
    };
  });
  const pending = world.call(token, 'web.search', { query: 'q' }, { maxWaitSeconds: 5 });
  await asked;
  await world.ok(token, 'provider.remove', { id: 'slow' });
  expect(errorOf(await pending)).toMatchObject({
    code: 'provider_failed',
    message: 'The provider slow was removed meanwhile.',
  });
}, 20_000);
