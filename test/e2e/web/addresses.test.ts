import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('addresses (Chromium)', () => {
  let web: WebWorld;
  beforeAll(async () => {
    web = await startWebWorld();
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  test('one that no page has is said to be none, however it is written', async () => {
    const { page, context } = await web.visit();
    for (const path of ['/sessions/%E0%A4%A', '/sessions/a/b']) {
      await page.goto(web.world.url + path);
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    }
    await page.goto(`${web.world.url}/sessions/${encodeURIComponent('no <b>such</b>')}`);
    await page.getByText('No session has the id "no <b>such</b>"').waitFor();
    await context.close();
  });

  test('a page that cannot be shown leaves the others alone', async () => {
    const { page, context } = await web.visit();
    // A part of it that is no longer there, as after an update.
    await page.route(/machines-page/, (route) => route.abort());
    const nav = page.getByRole('navigation').first();
    await nav.getByRole('link', { name: 'Machines' }).click();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await nav.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    expect(await page.getByText('This page could not be shown').count()).toBe(0);
    await context.close();
  });
});
