import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../helpers/api.ts';
import { findings } from './helpers/axe.ts';
import { DESKTOP, hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

const PER_PAGE = 50;

describe.skipIf(!hasChromium)('the page of files (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  const sessions: string[] = [];
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
    for (const title of ['First', 'Second <b>x</b> \u202Egnp']) {
      const input = { agentId: 'demo', directory: web.directory, title };
      sessions.push(String((await api.output('session.spawn_new', input)).sessionId));
    }
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  async function send(sessionId: string, path: string, message?: string): Promise<string> {
    await writeFile(join(web.directory, path), `content of ${path}`);
    return (await api.output('file.send', { sessionId, path, message })).fileId as string;
  }

  test('says so when there are none, in both languages', async () => {
    for (const [locale, title, none] of [
      ['en-GB', 'Files', 'No files yet'],
      ['zh-CN', '文件', '还没有文件'],
    ] as const) {
      const { page, context, problems } = await web.visit({ locale });
      await page.getByRole('navigation').first().getByRole('link', { name: title }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.getByText(none).waitFor();
      expect(page.url()).toBe(`${web.world.url}/files`);
      expect(problems).toEqual([]);
      await context.close();
    }
  });

  test('lists them by session, the newest first, as they come and go', async () => {
    const [first = '', second = ''] = sessions;
    await send(first, 'old.txt', 'An <i>old</i> one');
    await send(second, 'middle.txt');
    const { page, context, problems } = await web.visit();
    await page.goto(`${web.world.url}/files`);
    const names = () => page.locator('.files article strong').allInnerTexts();
    await expect.poll(names).toEqual(['middle.txt', 'old.txt']);
    await page.getByText('An <i>old</i> one').waitFor();
    const heads = () => page.locator('.files h2 a').allInnerTexts();
    await expect.poll(heads).toEqual(['Second <b>x</b> \\u202egnp', 'First']);

    await send(first, 'new.txt');
    await expect.poll(names).toEqual(['new.txt', 'old.txt', 'middle.txt']);
    await expect.poll(heads).toEqual(['First', 'Second <b>x</b> \\u202egnp']);

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const focused = page.locator('article:focus');
    expect(await focused.innerText()).toContain('old.txt');
    await focused.getByRole('button', { name: 'Preview: old.txt' }).press('Enter');
    await page.getByText('content of old.txt').waitFor();

    const old = page.locator('article', { hasText: 'old.txt' });
    await old.getByRole('button', { name: 'Remove' }).click();
    await old.getByRole('button', { name: 'Cancel' }).click();
    await old.getByRole('button', { name: 'Remove' }).click();
    await old.getByRole('button', { name: 'Remove for good' }).click();
    await expect.poll(names).toEqual(['new.txt', 'middle.txt']);
    expect(((await api.output('file.list')).files as unknown[]).length).toBe(2);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a file that was removed elsewhere is said to be gone where the transcript still shows it', async () => {
    const fileId = await send(sessions[0]!, 'gone.txt');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessions[0]}`);
    const card = page.locator('.file-card', { hasText: 'gone.txt' });
    await card.waitFor();
    await api.output('file.remove', { fileId });
    await card.getByRole('button', { name: 'Download' }).click();
    await card.getByText('no longer at the backend').waitFor();
    await context.close();
  });

  test('shows more on request, and is accessible in each size and colour', async () => {
    const paths = Array.from({ length: PER_PAGE + 5 }, (_, i) => `many-${i}.txt`);
    for (const path of paths) await send(sessions[1]!, path);
    for (const [scheme, size, locale] of [
      ['light', DESKTOP, 'en-GB'],
      ['dark', PHONE, 'zh-CN'],
    ] as const) {
      const { page, context, problems } = await web.visit({ size, locale });
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(`${web.world.url}/files`);
      const cards = page.locator('.files article strong');
      await expect.poll(() => cards.count()).toBe(PER_PAGE);
      expect(await findings(page)).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(Math.max(0, overflow)).toBe(0);
      await page.locator('button.more').click();
      await expect.poll(() => cards.count()).toBeGreaterThan(PER_PAGE);
      await expect.poll(() => page.locator('button.more').count()).toBe(0);
      expect(problems).toEqual([]);
      await context.close();
    }
  }, 60_000);
});
