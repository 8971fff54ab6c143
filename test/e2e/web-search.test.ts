import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeProvider, startFakeProvider } from '../backend/web/fake-providers.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { connectMcp } from './helpers/mcp-host.ts';

let world: World;
let fake: FakeProvider;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  world = await startWorld();
  fake = await startFakeProvider({ results: [{ title: 'One', url: 'https://one.example/', content: 'W' }] });
}, 90_000);
afterAll(async () => {
  for (const each of open) await each.close();
  await fake?.close();
  await world?.stop();
}, 60_000);

test('the tools come with a provider and go with it, and a host is told', async () => {
  const host = await connectMcp(world.env, { onEnd: (client) => void open.push(client) });
  expect(await host.names()).not.toContain('web_search');
  const come = host.listChanged();
  const set = await world.cli(['providers', 'set', 'home', '--kind', 'searxng', '--base-url', fake.url]);
  expect(set).toMatchObject({ code: 0 });
  await come;
  expect(await host.names()).toEqual(expect.arrayContaining(['web_search', 'searxng_search']));
  expect(await host.names()).not.toContain('web_answer');
  expect(await host.ok('web_search', { query: 'q' })).toMatchObject({ untrusted: true });
  expect((await world.cli(['providers', 'test', 'home'])).code).toBe(0);
  const gone = host.listChanged();
  expect((await world.cli(['providers', 'remove', 'home'])).code).toBe(0);
  await gone;
  expect(await host.names()).not.toContain('web_search');
}, 60_000);
