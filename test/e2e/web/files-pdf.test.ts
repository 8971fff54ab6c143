import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';
import { endlessPdf, hostilePdf, pdfOf, twoPages } from './helpers/pdf.ts';

const BROKEN = 'This PDF cannot be shown';

describe.skipIf(!hasChromium)('PDFs in the app (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  let elsewhere: Server;
  const asked: string[] = [];
  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    web = await startWebWorld();
    const input = { agentId: 'demo', directory: web.directory, title: 'PDFs' };
    sessionId = String((await web.output('session.spawn_new', input)).sessionId);
  }, 120_000);
  afterAll(async () => {
    elsewhere?.close();
    await web?.stop();
  }, 60_000);

  /** Sends a PDF and opens its preview. */
  async function preview(page: Page, name: string, content: string): Promise<Locator> {
    await writeFile(join(web.directory, name), content, 'latin1');
    await web.output('file.send', { sessionId, path: name });
    await page.goto(`${web.world.url}/files`);
    const card = page.locator('article', { hasText: name });
    await card.getByRole('button', { name: 'Preview' }).click();
    return card;
  }

  /** Colour in the middle of what is drawn. */
  const colour = (card: Locator): Promise<number[]> =>
    card.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas;
      return [...canvas.getContext('2d')!.getImageData(width - 8, height - 8, 1, 1).data];
    });

  test('are drawn page by page, with their words for those who do not see them', async () => {
    const { page, context, problems } = await web.visit();
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await page.goto(`${web.world.url}/files`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // Large, and seldom needed: it comes with the first PDF.
    expect(scripts.filter((url) => url.includes('/assets/pdf'))).toEqual([]);
    const card = await preview(page, 'two.pdf', twoPages());
    await expect.poll(() => colour(card)).toEqual([255, 0, 0, 255]);
    const picture = card.getByRole('img', { name: 'two.pdf: Page 1 of 2' });
    const { width, height } = (await picture.boundingBox())!;
    // As wide as there is room, whole, and in its own shape.
    expect(width).toBeGreaterThan(600);
    expect(width / height).toBeCloseTo(300 / 200, 1);
    await expect.poll(() => card.locator('.pdf .hidden-text').innerText()).toContain('First page');
    await card.getByRole('button', { name: 'Next page' }).click();
    await expect.poll(() => colour(card)).toEqual([0, 0, 255, 255]);
    expect(await card.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    await card.getByRole('button', { name: 'Close the preview' }).click();
    expect(await card.locator('canvas').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('that would run scripts, open links or fetch things do nothing', async () => {
    const { port } = elsewhere.address() as AddressInfo;
    const { page, context, problems } = await web.visit();
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const card = await preview(page, 'hostile.pdf', hostilePdf(`http://127.0.0.1:${port}`));
    await expect.poll(() => colour(card)).toEqual([0, 255, 0, 255]);
    await card.locator('canvas').click();
    await page.keyboard.press('Enter');
    expect(await card.locator('.pdf a, .pdf input, .pdf iframe, .pdf object, .pdf embed').count()).toBe(0);
    expect([page.url(), context.pages().length]).toEqual([`${web.world.url}/files`, 1]);
    expect({ asked, dialogs, problems }).toEqual({ asked: [], dialogs: [], problems: [] });
    await context.close();
  });

  test.each([
    ['none.pdf', 'This is no PDF'],
    ['empty.pdf', ''],
    ['no-pages.pdf', pdfOf([])],
    ['cut.pdf', twoPages().slice(0, 120)],
    // It would be decrypted with a password.
    [
      'locked.pdf',
      twoPages().replace(
        'trailer <<',
        `trailer << /ID [(a) (a)] /Encrypt << /Filter /Standard /V 1 /R 2 /O (${'x'.repeat(32)}) /U (${'y'.repeat(32)}) /P -4 >>`,
      ),
    ],
    // A tree of pages that is its own branch.
    ['round.pdf', pdfOf(['2 0 obj << /Type /Pages /Kids [2 0 R] /Count 1 >> endobj'])],
  ])('like %s are said not to be shown, and the page goes on', async (name, content) => {
    const { page, context } = await web.visit();
    const card = await preview(page, name, content);
    await card.getByText(BROKEN).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(name);
    await context.close();
  });

  test('that would be drawn for ever are given up, and the page can be used all the while', async () => {
    const { page, context } = await web.visit();
    const card = await preview(page, 'endless.pdf', endlessPdf(12_000_000));
    await card.locator('canvas').waitFor();
    let slowest = 0;
    const isOver = () => card.getByText(BROKEN).isVisible();
    while (!(await isOver())) {
      const begun = performance.now();
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      slowest = Math.max(slowest, performance.now() - begun);
    }
    expect(slowest).toBeLessThan(5000);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    await context.close();
  }, 60_000);

  test('that are too large for it are not tried', async () => {
    const { page, context } = await web.visit();
    await writeFile(join(web.directory, 'large.pdf'), Buffer.alloc(33 * 1024 * 1024, 32));
    await web.output('file.send', { sessionId, path: 'large.pdf' });
    await page.goto(`${web.world.url}/files`);
    const card = page.locator('article', { hasText: 'large.pdf' });
    await card.getByText('Too large to be shown here').waitFor();
    expect(await card.getByRole('button', { name: 'Preview' }).count()).toBe(0);
    await context.close();
  });
});
