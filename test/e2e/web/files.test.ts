import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WORDS = 'The numbers <img src=x onerror=alert(1)> \u202Egnp.exe [here](https://evil.example)\n';

describe.skipIf(!hasChromium)('files of agents in the app (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  beforeAll(async () => {
    web = await startWebWorld();
    const input = { agentId: 'demo', directory: web.directory, title: 'Files' };
    sessionId = String((await web.output('session.spawn_new', input)).sessionId);
    await writeFile(join(web.directory, 'report.md'), WORDS);
    await writeFile(join(web.directory, 'pixel.png'), PIXEL);
    await writeFile(join(web.directory, 'large.bin'), Buffer.alloc(3_000_000, 7));
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const send = (path: string, message?: string) => web.output('file.send', { sessionId, path, message });

  test('a browser that was opened by `kaiwu app` reads, previews and saves them', async () => {
    const { page, context, problems } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await send('report.md', 'Look <b>here</b>');
    const card = page.locator('.file-card', { hasText: 'report.md' });
    await card.getByText('Look <b>here</b>').waitFor();
    await card.getByRole('button', { name: 'Preview' }).click();
    await card
      .getByText('<img src=x onerror=alert(1)> \\u202egnp.exe [here](https://evil.example)')
      .waitFor();
    expect(await card.locator('img, a, b').count()).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('report.md');
    expect(await readFile(await download.path(), 'utf8')).toBe(WORDS);

    await send('pixel.png');
    const picture = page.locator('.file-card', { hasText: 'pixel.png' });
    await picture.getByRole('button', { name: 'Preview' }).click();
    await expect
      .poll(() => picture.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth))
      .toBe(1);

    await send('large.bin');
    const large = page.locator('.file-card', { hasText: 'large.bin' });
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      large.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(statSync(await saved.path()).size).toBe(3_000_000);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('ciphertext that was altered or cut is an error, and nothing is saved', async () => {
    const { fileId } = await send('large.bin');
    const folder = join(web.world.home, 'backend/blobs');
    const blob = readdirSync(folder, { recursive: true })
      .map((name) => join(folder, String(name)))
      .find((name) => name.includes(String(fileId)) && statSync(name).isFile())!;
    const bytes = readFileSync(blob);
    bytes[bytes.length - 1_000_000]! ^= 1;
    writeFileSync(blob, bytes);
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const card = page.locator('.file-card', { hasText: 'large.bin' }).last();
    await card.getByRole('button', { name: 'Download' }).click();
    await card.getByText('The file is damaged').waitFor();
    await context.close();
  });

  test('a browser without the key says so; one that is approved with the key check gets it', async () => {
    const waiting = await web.visit({ signedIn: false });
    await waiting.page.getByRole('button', { name: 'Show a code' }).click();
    const code = await waiting.page.locator('.user-code').innerText();
    const told = await waiting.page.getByText(/^Key check: /).innerText();
    const check = /[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}/.exec(told)![0];
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/devices`);
    await page.getByLabel('Sign a device in: the code that it shows').fill(code);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText(`shows the key check ${check}?`).waitFor();
    await page.getByRole('button', { name: 'Same: approve' }).click();
    await waiting.page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    await waiting.page.goto(`${web.world.url}/sessions/${sessionId}`);
    await waiting.page.locator('.file-card', { hasText: 'report.md' }).first().waitFor();

    await waiting.page.evaluate(() => localStorage.removeItem('kaiwu.fileKey'));
    await waiting.page.reload();
    await waiting.page.getByText('This browser does not have the key').first().waitFor();
    expect(await waiting.page.getByText('report.md').count()).toBe(0);
    await waiting.context.close();
    await context.close();
  });

  test('the key of the files is forgotten with the sign-in, and never reaches the backend', async () => {
    const { page, context } = await web.visit();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    const key = await page.evaluate(() => localStorage.getItem('kaiwu.fileKey'));
    expect(key).toMatch(/^AGE-SECRET-KEY-1/);
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await page.locator('.file-card').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('kaiwu.fileKey'))).toBeNull();
    expect(sent.join('\n')).not.toContain('AGE-SECRET-KEY');
    await context.close();
  });
});
