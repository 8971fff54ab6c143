import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Encrypter } from 'age-encryption';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../helpers/api.ts';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

const MEBIBYTE = 1024 * 1024;
const SIZE = 100 * MEBIBYTE;

describe.skipIf(!hasChromium)('large files in the app (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  let sessionId: string;
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
    const input = { agentId: 'demo', directory: web.directory, title: 'Large' };
    sessionId = String((await api.output('session.spawn_new', input)).sessionId);
    for (const [path, size] of [
      ['smaller.bin', SIZE / 4],
      ['large.bin', SIZE],
    ] as const) {
      await pipeline(
        function* () {
          for (let i = 0; i < size / MEBIBYTE; i++) yield randomBytes(MEBIBYTE);
        },
        createWriteStream(join(web.directory, path)),
      );
      await api.output('file.send', { sessionId, path });
    }
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  /** The dialog cannot be clicked here: a real file that the browser keeps for the page is what it answers. */
  async function visit(
    answer = `(await navigator.storage.getDirectory()).getFileHandle('chosen', { create: true })`,
  ) {
    const visited = await web.visit();
    await visited.context.addInitScript(
      `window.showSaveFilePicker = async (options) => { window.asked = options; return ${answer}; };`,
    );
    await visited.page.goto(`${web.world.url}/files`);
    const card = visited.page.locator('article', { hasText: 'large.bin' });
    return { ...visited, card, button: card.getByRole('button', { name: 'Download' }) };
  }

  /** Size and digest of what was written, or why there is nothing. */
  const written = (page: Page): Promise<{ size?: number; error?: string }> =>
    page.evaluate(async () => {
      try {
        const folder = await navigator.storage.getDirectory();
        const file = await (await folder.getFileHandle('chosen')).getFile();
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
        return { size: file.size, sha256: [...digest].map((b) => b.toString(16).padStart(2, '0')).join('') };
      } catch (error) {
        return { error: (error as Error).name };
      }
    });

  /**
   * Most memory that a process of the browser ever had, MiB. Not the one that keeps this test's “disk”: a window that is private,
   * as those of tests are, has its own in memory.
   */
  async function peak(): Promise<number> {
    const session = await web.browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    await session.detach();
    const peaks = processInfo
      .filter(({ type }) => type !== 'browser')
      .map(({ id }) => {
        const status = readFileSync(`/proc/${id}/status`, 'utf8');
        return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
      });
    return Math.max(...peaks);
  }

  async function slow(context: BrowserContext, page: Page): Promise<void> {
    const session = await context.newCDPSession(page);
    const downloadThroughput = 8 * MEBIBYTE;
    const conditions = { offline: false, latency: 0, downloadThroughput, uploadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', conditions);
  }

  test('100 MB go to the disk in constant memory, and are what was sent', async () => {
    const { page, context, problems, card, button } = await visit();
    const smaller = page.locator('article', { hasText: 'smaller.bin' });
    await smaller.getByRole('button', { name: 'Download' }).click();
    await smaller.getByText('Saved', { exact: true }).waitFor({ timeout: 60_000 });
    const before = await peak();
    await button.click();
    await card.getByText('Saved', { exact: true }).waitFor({ timeout: 60_000 });
    // What 75 MB more take: held in memory, they would take all of that.
    const grown = (await peak()) - before;
    expect(await page.evaluate(() => (window as unknown as { asked: object }).asked)).toEqual({
      suggestedName: 'large.bin',
    });
    const hash = createHash('sha256');
    for await (const part of createReadStream(join(web.directory, 'large.bin'))) hash.update(part as Buffer);
    expect(await written(page)).toEqual({ size: SIZE, sha256: hash.digest('hex') });
    expect(grown).toBeLessThan(40);
    expect(problems).toEqual([]);
    await context.close();
  }, 90_000);

  test('one that is canceled leaves nothing, and can begin again', async () => {
    const { page, context, card, button } = await visit();
    await slow(context, page);
    await button.click();
    await expect
      .poll(() => card.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value))
      .toBeGreaterThan(0.02);
    await card.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('Canceled; nothing was saved.').waitFor();
    await expect.poll(() => written(page)).toEqual({ error: 'NotFoundError' });
    expect(await button.isEnabled()).toBe(true);
    await context.close();
  }, 60_000);

  test('one whose person chose no place is not fetched', async () => {
    const { page, context, button, card } = await visit(
      `Promise.reject(new DOMException('closed', 'AbortError'))`,
    );
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await button.click();
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(asked.filter((url) => url.includes('/content'))).toEqual([]);
    expect(await card.getByRole('alert').count()).toBe(0);
    await context.close();
  });

  test('what no memory would hold is told with the command that saves it', async () => {
    const { page, context } = await web.visit();
    const { files } = await api.output('file.list');
    const { fileId } = (files as { fileId: string }[])[0]!;
    const headers = { authorization: `Bearer ${api.token}` };
    const key = await fetch(`${web.world.url}/v1/account/key`, { headers });
    const encrypter = new Encrypter();
    encrypter.addRecipient(((await key.json()) as { recipient: string }).recipient);
    const file = { fileId, path: 'huge.bin', fileName: 'huge.bin', sizeBytes: 300 * MEBIBYTE };
    const text = JSON.stringify({ ...file, mimeType: 'application/octet-stream', sha256: '' });
    const sealed = Buffer.from(await encrypter.encrypt(text)).toString('base64');
    await page.route('**/v1/actions/file.list', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { output: { files: object[] } };
      body.output.files = body.output.files.map((one) => ({ ...one, sealed }));
      await route.fulfill({ json: body });
    });
    await page.addInitScript('delete window.showSaveFilePicker; delete Window.prototype.showSaveFilePicker;');
    await page.goto(`${web.world.url}/files`);
    const card = page.locator('article', { hasText: 'huge.bin' });
    await card.getByRole('button', { name: 'Download' }).click();
    await card.getByText(`kaiwu file get ${fileId}`).waitFor();
    await context.close();
  });

  test('one that breaks off on its way is no damage, and leaves nothing', async () => {
    const { page, context, card, button } = await visit();
    await slow(context, page);
    await button.click();
    await expect.poll(() => card.locator('progress').count()).toBe(1);
    const state = join(web.world.home, 'backend/backend.json');
    const { pid } = JSON.parse(readFileSync(state, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await card.getByText('The connection broke').waitFor();
    await expect.poll(() => written(page)).toEqual({ error: 'NotFoundError' });
    await context.close();
  }, 60_000);
});
