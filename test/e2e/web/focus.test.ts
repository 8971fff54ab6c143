import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../helpers/api.ts';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

/** Whoever types or points keeps the focus, whatever comes in meanwhile: the next key must never mean something else. */
describe.skipIf(!hasChromium)('the focus (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
    await web.output('policy.set', { rules: { 'session.archive': { cli: { approval: true } } } });
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const start = async (title: string) =>
    String(
      (await web.output('session.spawn_new', { agentId: 'demo', directory: web.directory, title })).sessionId,
    );
  const request = async (sessionId: string) =>
    String(
      ((await web.envelope('session.archive', { sessionId })).approval as { artifactId: string }).artifactId,
    );
  const pending = async () => {
    const { approvals } = await web.output('approval.request.list', { status: 'pending' });
    return (approvals as { artifactId: string }[]).map(({ artifactId }) => artifactId);
  };
  const focused = (page: Page) =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent;
    });

  test('a reason that is being written outlives what comes in, above it and with it', async () => {
    const [one, other] = [await start('One'), await start('Other')];
    const wanted = await request(one);
    const { page, context, problems } = await web.visit();
    await page.getByRole('article').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.keyboard.type('bec');
    // An edit brings a preview of its step, which is asked for as the card comes.
    for (const sessionId of [other, one]) {
      const message = `edit ${sessionId}.txt new`;
      await web.output('session.message.send', { sessionId, message, wait: false });
      await page.getByRole('article', { name: `Edit ${sessionId}.txt` }).waitFor();
      await page.getByText(join(web.directory, `${sessionId}.txt`)).waitFor();
      await page.keyboard.type('a');
    }
    const reason = page.getByRole('textbox', { name: 'Reason' });
    expect(await reason.inputValue()).toBe('becaa');
    expect(await pending()).toEqual([wanted]);
    await page.keyboard.press('Enter');
    await page.getByText('becaa').waitFor();
    expect(await focused(page)).toContain('Archive a session');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('what is typed on after the card was decided elsewhere decides nothing', async () => {
    const [first, second] = [await request(await start('Left')), await request(await start('Right'))];
    const { page, context } = await web.visit();
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.keyboard.type('no');
    await web.output('approval.request.decide', { artifactId: second, decision: 'deny' });
    await page.getByText('Denied', { exact: true }).waitFor();
    await page.keyboard.type(' just a mistake');
    expect(await pending()).toEqual([first]);
    await web.output('approval.request.decide', { artifactId: first, decision: 'deny' });
    await context.close();
  });

  test('the dialog of a new session stays one while its choices come', async () => {
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions`);
    await page.getByRole('button', { name: 'New session' }).click();
    const dialog = page.getByRole('dialog');
    const isModal = () => dialog.evaluate((found) => found.matches(':modal'));
    await dialog.getByLabel('Agent').focus();
    await dialog.getByLabel('Agent').selectOption({ label: 'Demo agent' });
    await dialog
      .getByRole('option', { name: /demo-1|Demo 1/i })
      .first()
      .waitFor({ state: 'attached' });
    expect(await isModal()).toBe(true);
    expect(await dialog.getByLabel('Agent').evaluate((found) => found === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await context.close();
  });

  test('a session stays in sight while its modes come', async () => {
    const sessionId = await start('Modes');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const modes = page.getByLabel('Permission mode');
    await modes.focus();
    await expect.poll(() => modes.getByRole('option').count()).toBeGreaterThan(1);
    expect(await modes.evaluate((found) => found === document.activeElement)).toBe(true);
    await context.close();
  });

  test('files: previews and removing keep the focus; what cannot be shown says so', async () => {
    const sessionId = await start('Files');
    const folder = join(web.directory, 'files');
    await mkdir(folder);
    for (const [name, content] of [
      ['bad.png', 'no picture'],
      ['empty.txt', ''],
    ] as const) {
      await writeFile(join(folder, name), content);
      await api.output('file.send', { sessionId, path: `files/${name}` });
    }
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/files`);
    for (const [name, words] of [
      ['bad.png', 'This browser cannot show it'],
      ['empty.txt', 'The file is empty.'],
    ] as const) {
      const card = page.getByRole('article').filter({ hasText: name });
      await card.getByRole('button', { name: `Preview: ${name}` }).focus();
      await page.keyboard.press('Enter');
      await card.getByText(words).waitFor();
      expect(await focused(page)).toBe(`Close the preview: ${name}`);
      await card.getByRole('button', { name: 'Remove' }).focus();
      await page.keyboard.press('Enter');
      expect(await focused(page)).toBe('Remove for good');
      await card.getByRole('button', { name: 'Cancel' }).focus();
      await page.keyboard.press('Enter');
      expect(await focused(page)).toBe('Remove');
    }
    await context.close();
  });
});
