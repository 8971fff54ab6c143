import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, openWorld, type World } from '../helpers/world.ts';
import { type FakeProvider, startFakeProvider } from './fake-providers.ts';

const KEY = 'canary-1f2e3d4c5b6a';
const ROW = { title: 'One', url: 'https://one.example/', content: 'Words', description: 'Words' };

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

async function provider(id: string, kind: string, json: unknown, more: object = {}): Promise<FakeProvider> {
  const fake = await startFakeProvider(json);
  running.push(fake);
  await world.ok(token, 'provider.set', { id, kind, base_url: fake.url, ...more });
  return fake;
}
const searx = (id: string, more: object = {}) => provider(id, 'searxng', { results: [ROW] }, more);
const search = (more: object = {}) => world.ok(token, 'web.search', { query: 'q', ...more });
const refused = async (id: string, input: object) => errorOf(await world.call(token, id, input));

describe('without a provider', () => {
  it.each(['web.search', 'web.answer', 'searxng.search'])('%s is refused with what to do', async (id) => {
    expect(await refused(id, { query: 'q', question: 'q' })).toMatchObject({
      code: 'action_disabled',
      details: { reason: 'no_provider' },
    });
  });

  it('comes with the first and goes with the last', async () => {
    await searx('home');
    expect(await search()).toMatchObject({ provider: 'home', untrusted: true, failed: [] });
    await world.restart();
    expect(await search()).toMatchObject({ provider: 'home' });
    await world.ok(token, 'provider.remove', { id: 'home' });
    expect(await refused('web.search', { query: 'q' })).toMatchObject({ code: 'action_disabled' });
  });
});

describe('each kind', () => {
  it('searxng is asked for JSON in its language', async () => {
    const fake = await searx('home', { default_language: 'zh-CN', max_results: 1 });
    const out = await world.ok(token, 'searxng.search', { query: 'a b&c' });
    expect(out['results']).toEqual([{ title: 'One', url: 'https://one.example/', snippet: 'Words' }]);
    expect(fake.asked[0]!.url).toBe('/search?q=a+b%26c&format=json&language=zh-CN');
  });

  it('brave and tavily get their keys', async () => {
    const brave = await provider('brave', 'brave', { web: { results: [ROW] } }, { api_key: KEY });
    const tavily = await provider('tavily', 'tavily', { results: [ROW] }, { api_key: KEY });
    expect(await search()).toMatchObject({ provider: 'brave', results: [{ snippet: 'Words' }] });
    expect(await search({ provider: 'tavily', max_results: 3 })).toMatchObject({ provider: 'tavily' });
    expect(brave.asked[0]).toMatchObject({
      url: '/web/search?q=q&count=10',
      headers: { 'x-subscription-token': KEY },
    });
    expect(tavily.asked[0]).toMatchObject({ url: '/search', headers: { authorization: `Bearer ${KEY}` } });
    expect(JSON.parse(tavily.asked[0]!.body)).toEqual({ query: 'q', max_results: 3 });
  });

  it('openai and gemini answer with citations', async () => {
    const cited = { url_citation: { url: 'https://one.example/', title: 'One' } };
    const message = { content: 'So.', annotations: [{ type: 'url_citation', ...cited }] };
    const openai = await provider('oa', 'openai', { choices: [{ message }] }, { model: 'm' });
    const groundingMetadata = { groundingChunks: [{ web: { uri: 'https://one.example/', title: 'One' } }] };
    const candidate = { content: { parts: [{ text: 'So.' }] }, groundingMetadata };
    const gemini = await provider('ge', 'gemini', { candidates: [candidate] }, { model: 'm', api_key: KEY });
    for (const each of ['oa', 'ge']) {
      expect(await world.ok(token, 'web.answer', { question: 'q', depth: 'deep', provider: each })).toEqual({
        provider: each,
        untrusted: true,
        answer: 'So.',
        citations: [{ title: 'One', url: 'https://one.example/' }],
        failed: [],
      });
    }
    expect(JSON.parse(openai.asked[0]!.body).web_search_options).toEqual({ search_context_size: 'high' });
    expect(gemini.asked[0]).toMatchObject({
      url: '/models/m:generateContent',
      headers: { 'x-goog-api-key': KEY },
    });
  });
});

describe('one that misbehaves gives way to the next', () => {
  it.each([
    ['500', () => ({ status: 500, text: 'oops' })],
    ['HTML', () => ({ text: '<html>sign in</html>' })],
    ['huge', () => ({ text: 'x'.repeat(3_000_000) })],
    ['redirect', () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' }, text: '' })],
    ['wrong key, repeated', () => ({ status: 401, text: `bad key ${KEY}` })],
    ['silent', undefined],
  ])('%s', async (_what, reply) => {
    const bad = await searx('bad', { api_key: KEY, timeout_seconds: 1 });
    bad.reply = reply;
    await searx('good');
    await searx('third');
    const out = await search();
    expect(out).toMatchObject({ provider: 'good', failed: [{ provider: 'bad' }] });
    expect(JSON.stringify(out)).not.toContain(KEY);
    const pinned = await refused('web.search', { query: 'q', provider: 'bad' });
    expect(pinned).toMatchObject({ code: 'provider_failed' });
    expect(JSON.stringify(pinned)).not.toContain(KEY);
    expect(await world.ok(token, 'provider.test', { id: 'bad' })).toMatchObject({ ok: false });
    expect(await world.ok(token, 'provider.test', { id: 'good' })).toMatchObject({ ok: true });
  });
});

it('rows of strangers are bounded text with plain links', async () => {
  const row = (url: string, title = 't') => ({ title, url, content: 'c' });
  const long = { title: 'x'.repeat(9999), url: 'https://b.example/', content: 'y'.repeat(99_999) };
  const hostile = '<b>Hi</b>&lt;script&gt;x\u202e\u200b\n';
  await provider('home', 'searxng', {
    results: [
      row('javascript:alert(1)'),
      row('https://user:pw@a.example/'),
      row(`https://a.example/${'p'.repeat(3000)}`),
      row('https://a.example/', hostile),
      row('https://a.example/', 'again'),
      long,
      ...Array.from({ length: 100 }, (_, i) => row(`https://c.example/${i}`)),
    ],
  });
  const results = (await search({ max_results: 5 }))['results'] as { title: string; snippet: string }[];
  expect(results).toHaveLength(5);
  expect(results[0]).toEqual({ title: 'Hi x\\u202e\\u200b', url: 'https://a.example/', snippet: 'c' });
  expect([results[1]!.title.length, results[1]!.snippet.length]).toEqual([200, 1000]);
});

describe('arguments', () => {
  it.each([
    ['web.search', { query: '' }],
    ['web.search', { query: 'q', max_results: 0 }],
    ['web.search', { query: 'q', max_results: 21 }],
    ['web.search', { query: 'q', provider: 'none' }],
    ['searxng.search', { query: 'q', max_results: 21 }],
    ['web.answer', {}],
    ['web.answer', { question: ' ' }],
    ['web.answer', { question: 'q'.repeat(2001) }],
    ['web.answer', { question: 'q', depth: 'deeper' }],
    ['web.answer', { question: 'q', provider: 'home' }],
    ['web.answer', { question: 'q', provider: 'NOT AN ID' }],
    ['provider.set', { id: 'X', kind: 'brave' }],
    ['provider.set', { id: 'x', kind: 'bing' }],
    ['provider.set', { id: 'x', kind: 'searxng' }],
    ['provider.set', { id: 'x', kind: 'openai' }],
    ['provider.set', { id: 'x', kind: 'searxng', base_url: 'ftp://x' }],
    ['provider.set', { id: 'x', kind: 'searxng', base_url: 'http://u:p@x' }],
    ['provider.set', { id: 'x', kind: 'brave', timeout_seconds: 0 }],
    ['provider.set', { id: 'x', kind: 'brave', max_results: 21 }],
    ['provider.remove', { id: 'none' }],
    ['provider.test', { id: 'none' }],
  ])('%s %j', async (id, input) => {
    await searx('home');
    await provider('oa', 'openai', {}, { model: 'm' });
    expect(await refused(id, input)).toMatchObject({ code: 'invalid_input' });
  });
});

it('a key is in no file and no log, and does not follow to another address', async () => {
  const fake = await searx('home', { api_key: KEY });
  await search();
  const list = await world.ok(token, 'provider.list');
  expect(list['providers']).toMatchObject([{ id: 'home', has_key: true, source: 'settings' }]);
  const files = readdirSync(world.home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(world.home, name))
    .filter((path) => statSync(path).isFile());
  expect(files.filter((path) => readFileSync(path).includes(KEY))).toEqual([]);
  expect(world.logs.join('\n')).not.toContain(KEY);
  await world.ok(token, 'provider.set', { id: 'home', kind: 'searxng', base_url: fake.url });
  await search();
  expect(fake.asked.at(-1)!.headers['authorization']).toBe(`Bearer ${KEY}`);
  const other = await startFakeProvider({ results: [] });
  running.push(other);
  await world.ok(token, 'provider.set', { id: 'home', kind: 'searxng', base_url: other.url });
  await search();
  expect(other.asked[0]!.headers['authorization']).toBeUndefined();
});

it('one from the environment is shown as such and stays', async () => {
  const fake = await startFakeProvider({ results: [ROW] });
  running.push(fake);
  await world.restart({ searxng: { id: 'searxng', kind: 'searxng', base_url: fake.url } });
  expect((await world.ok(token, 'provider.list'))['providers']).toMatchObject([{ source: 'environment' }]);
  expect(await search()).toMatchObject({ provider: 'searxng' });
  expect(await refused('provider.remove', { id: 'searxng' })).toMatchObject({ code: 'conflict' });
});
