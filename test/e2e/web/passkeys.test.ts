import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findings } from './helpers/axe.ts';
import {
  hasChromium,
  PHONE,
  startWebWorld,
  type Visit,
  type VisitOptions,
  type WebWorld,
} from './helpers/browser.ts';
import { type Authenticator, giveAuthenticator } from './helpers/passkeys.ts';

describe.skipIf(!hasChromium)('passkeys of the app (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  /** The app where passkeys work. */
  let localhost: string;
  beforeAll(async () => {
    web = await startWebWorld();
    localhost = web.world.url.replace('127.0.0.1', 'localhost');
    const input = { agentId: 'demo', directory: web.directory, title: 'Files' };
    sessionId = String((await web.output('session.spawn_new', input)).sessionId);
    await writeFile(join(web.directory, 'report.md'), 'numbers');
    await web.output('file.send', { sessionId, path: 'report.md' });
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  /** A browser that is signed in at localhost and stands on the page of devices. */
  async function visit(
    more: VisitOptions & { hasPrf?: boolean } = {},
  ): Promise<Visit & { authenticator: Authenticator }> {
    const visited = await web.visit(more);
    const { page } = visited;
    await page.goto(`${web.world.url}/devices`);
    await page.getByRole('button', { name: /^(Go on at localhost|前往 localhost)/ }).click();
    await page.waitForURL(`${localhost}/devices`);
    const authenticator = await giveAuthenticator(page, { hasPrf: more.hasPrf ?? true });
    return { ...visited, authenticator };
  }

  const passkeysOf = (page: Page) => page.getByRole('region', { name: 'Passkeys' });

  async function add(page: Page, name: string): Promise<void> {
    await page.getByLabel('Name of the passkey').fill(name);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await passkeysOf(page).getByRole('listitem').filter({ hasText: name }).waitFor();
  }

  async function signOut(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
  }
  const signIn = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  const keptIn = (page: Page) => page.evaluate(() => Object.keys({ ...localStorage }).toSorted());

  test('one is added, signs in later with the key of the files, and ends with what it signed in', async () => {
    const { page, context, authenticator } = await visit();
    expect(await page.evaluate(() => location.hash)).toBe('');
    const suggested = await page.getByLabel('Name of the passkey').inputValue();
    expect(suggested).toBe('Chrome, Linux');
    await add(page, suggested);
    const row = passkeysOf(page).getByRole('listitem').first();
    expect(await row.innerText()).toMatch(/localhost\s+made .*not used yet/);
    expect(await row.innerText()).not.toContain('without the key');
    expect(await authenticator.count()).toBe(1);

    await row.getByRole('button', { name: 'Rename' }).click();
    await row.getByLabel('Name of the passkey').fill('My laptop');
    await row.getByRole('button', { name: 'Save' }).click();
    await passkeysOf(page).getByText('My laptop').waitFor();

    await signOut(page);
    expect(await keptIn(page)).not.toContain('kaiwu.fileKey');
    await signIn(page);
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
    await passkeysOf(page)
      .getByText(/used .*(now|second)/)
      .waitFor();
    const current = page.getByRole('listitem').filter({ hasText: 'This browser' });
    await current.getByText('by passkey').waitFor();
    await page.goto(`${localhost}/sessions/${sessionId}`);
    await page.locator('.file-card', { hasText: 'report.md' }).waitFor();

    // From another browser, as one does when a device is lost.
    const other = await visit();
    await other.page.getByRole('button', { name: 'Revoke: My laptop' }).click();
    await other.page.getByRole('button', { name: 'Revoke for good' }).click();
    await page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
    expect(await keptIn(page)).not.toContain('kaiwu.fileKey');
    await signIn(page);
    await page.getByText('This passkey is not known here, or was revoked.').waitFor();
    await passkeysOf(other.page).getByText('My laptop').waitFor({ state: 'detached' });
    // Added again, it takes the place of the old one in the authenticator.
    await context.close();
    await other.context.close();
  });

  test('where the authenticator tells no secret, the sign-in has no key of the files, and says so', async () => {
    const { page, context } = await visit({ hasPrf: false });
    await add(page, 'Plain key');
    const row = passkeysOf(page).getByRole('listitem').filter({ hasText: 'Plain key' });
    await row.getByText('without the key of your files').waitFor();
    await signOut(page);
    await signIn(page);
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
    await page.goto(`${localhost}/sessions/${sessionId}`);
    await page.getByText('This browser does not have the key of your files').waitFor();
    await context.close();
  });

  test('an authenticator that tells its secret only when it is used is used once more', async () => {
    const { page, context } = await visit();
    await page.evaluate(() => {
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = async (options) => {
        const made = (await create(options)) as PublicKeyCredential;
        Object.defineProperty(made, 'getClientExtensionResults', {
          value: () => ({ prf: { enabled: true } }),
        });
        return made;
      };
    });
    await add(page, 'Security key');
    const row = passkeysOf(page).getByRole('listitem').filter({ hasText: 'Security key' });
    expect(await row.innerText()).not.toContain('without the key');
    await signOut(page);
    await signIn(page);
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
    expect(await keptIn(page)).toContain('kaiwu.fileKey');
    await context.close();
  });

  test('what goes wrong is said, in the language of the browser', async () => {
    const { page, context, authenticator } = await visit();
    await add(page, 'First');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device has a passkey for this account already.').waitFor();
    await signOut(page);
    await authenticator.recognize(false);
    await signIn(page);
    await page.getByText('Nothing was done: it was canceled').waitFor();
    await page.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'));
    await page.reload();
    await page.getByText('This browser knows no passkeys.').waitFor();
    await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
    await page.reload();
    await page.getByText('Passkeys need HTTPS, or localhost.').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await context.close();

    const chinese = await web.visit({ signedIn: false, locale: 'zh-CN' });
    await chinese.page.getByText('通行密钥属于域名而不是地址').waitFor();
    await chinese.page.getByRole('link', { name: localhost }).click();
    await giveAuthenticator(chinese.page, { hasPrf: true });
    await chinese.page.getByRole('button', { name: '使用通行密钥登录' }).click();
    await chinese.page.getByText('未执行任何操作').waitFor();
    expect(await findings(chinese.page)).toEqual([]);
    await chinese.context.close();
  });

  test('another page of this machine gets no sign-in out of it, and an answer is good once', async () => {
    const { page, context } = await visit();
    await add(page, 'Target');
    await signOut(page);
    const begin = async () =>
      (await fetch(`${localhost}/v1/auth/passkey-sign-in/options`, {
        method: 'POST',
        body: '{}',
        headers: { origin: localhost },
      }).then((answer) => answer.json())) as { challenge: string };
    const finish = async (body: string) => {
      const headers = { origin: localhost, 'content-type': 'application/json' };
      const answer = await fetch(`${localhost}/v1/auth/passkey-sign-in`, { method: 'POST', body, headers });
      const { error } = (await answer.json()) as { error?: { details?: { reason?: string } } };
      return [answer.status, error?.details?.reason];
    };

    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/auth/passkey-sign-in')) sent.push(request.postData() ?? '');
    });
    await signIn(page);
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
    expect(sent).toHaveLength(1);
    // What the authenticator tells the page about the key of the files stays in the page.
    expect(JSON.parse(sent[0]!).response.clientExtensionResults).toEqual({});
    expect(await finish(sent[0]!)).toEqual([401, 'challenge']);

    const server = createServer((_request, response) => response.end('<!doctype html><title>x</title>'));
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    const { challenge } = await begin();
    const response = await page.evaluate(async (asked) => {
      const toBytes = (text: string) =>
        Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
      const got = (await navigator.credentials.get({
        publicKey: { challenge: toBytes(asked), rpId: 'localhost', userVerification: 'required' },
      })) as PublicKeyCredential;
      return JSON.stringify(got);
    }, challenge);
    expect(await finish(JSON.stringify({ response: JSON.parse(response) as unknown }))).toEqual([
      401,
      'not_valid',
    ]);
    server.closeAllConnections();
    server.close();
    await context.close();
  });

  test('the page is accessible on a phone', async () => {
    const { page, context } = await visit({ size: PHONE });
    await add(page, 'Phone');
    expect(await findings(page)).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(Math.max(0, overflow)).toBe(0);
    await context.close();
  });
});
