import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeProvider, startFakeProvider } from '../../backend/web/fake-providers.ts';
import { type Api, createApi } from '../helpers/api.ts';
import { findings } from './helpers/axe.ts';
import { hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

const CANARY = 'canary-geheim-0815';

describe.skipIf(!hasChromium)('the page of web providers (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  let service: FakeProvider;
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
    service = await startFakeProvider({
      results: [{ title: 'T', url: 'https://one.example/', content: 'S' }],
    });
  }, 120_000);
  afterAll(async () => {
    await web?.stop();
    await service?.close();
  }, 60_000);

  const open = async (options = {}) => {
    const visit = await web.visit(options);
    await visit.page.goto(`${web.world.url}/settings/providers`);
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    return visit;
  };

  test('one is added by the keyboard, tested, changed and removed; its key is never seen again', async () => {
    const { page, context, problems } = await open();
    await page.getByText('No provider yet.').waitFor();
    await page.keyboard.press('c');
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('home');
    await form.getByRole('textbox', { name: 'Address' }).fill(service.url);
    await form.getByLabel('Key').fill(CANARY);
    expect(await form.getByLabel('Key').getAttribute('type')).toBe('password');
    expect(await findings(page)).toEqual([]);
    await form.getByLabel('Key').press('Enter');
    await form.waitFor({ state: 'detached' });

    const card = page.getByRole('article', { name: 'home' });
    await card.getByText('SearXNG · searches · key set').waitFor();
    await card.getByRole('button', { name: 'Test' }).click();
    await card.getByText('It answered as it should').waitFor();
    service.reply = () => ({ status: 500, text: '<b>down</b>' });
    await card.getByRole('button', { name: 'Test' }).click();
    await card.getByText('HTTP 500').waitFor();

    await card.getByRole('button', { name: 'Edit' }).click();
    await form.getByLabel('Language').fill('de');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await api.output('provider.list')).providers).toMatchObject([
      { id: 'home', kind: 'searxng', default_language: 'de', has_key: true },
    ]);
    expect(await page.content()).not.toContain('canary');

    await card.getByRole('button', { name: 'Remove: home' }).click();
    await card.getByRole('button', { name: 'Remove with its secrets' }).click();
    await page.getByText('No provider yet.').waitFor();
    expect(problems.filter((problem) => !problem.includes('500'))).toEqual([]);
    await context.close();
  });

  test('bad input says what is wrong and keeps the form; another window follows, in Chinese on a phone', async () => {
    const other = await open({ size: PHONE, locale: 'zh-CN' });
    await other.page.getByRole('heading', { name: '网络搜索' }).waitFor();
    const { page, context } = await open();
    await page.getByRole('button', { name: 'Add…' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Not A Name');
    await form.getByText('Tavily').click();
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('must be 1 to 40 lower-case letters').waitFor();
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('tavily');
    await form.getByLabel('Key').fill(CANARY);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await other.page.getByRole('article', { name: 'tavily' }).getByText('Tavily · 搜索 · 已设密钥').waitFor();
    await context.close();
    await other.context.close();
  });
});
