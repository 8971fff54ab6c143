import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, linkOf, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('signing in to the app (Chromium)', () => {
  let web: WebWorld;
  beforeAll(async () => {
    web = await startWebWorld();
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  test('a link signs in once, and its secret is gone from the address', async () => {
    const link = await linkOf(web.world);
    const { page, context, problems } = await web.visit({ signedIn: false });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    expect(page.url()).toBe(`${web.world.url}/inbox`);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(4);
    const [cookie] = await context.cookies(`${web.world.url}/v1/whoami`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/v1' });
    expect(problems).toEqual([]);

    const other = await web.visit({ signedIn: false });
    await other.page.goto(link);
    await other.page.getByText('This link has been used already').waitFor();
    await other.page.getByText('kaiwu app', { exact: true }).first().waitFor();
  });

  test('neither half of the sign-in is good without the other', async () => {
    const { page, context } = await web.visit();
    const [cookie] = await context.cookies(`${web.world.url}/v1/whoami`);
    const half = await page.evaluate(() => localStorage.getItem('kaiwu.pageKey'));
    const whoami = (headers: Record<string, string>) =>
      fetch(`${web.world.url}/v1/whoami`, { headers }).then(({ status }) => status);
    const cookieHeader = `${cookie!.name}=${cookie!.value}`;
    expect(await whoami({ cookie: cookieHeader })).toBe(401);
    expect(await whoami({ 'x-kaiwu-page': half! })).toBe(401);
    expect(await whoami({ authorization: `Bearer ${half}` })).toBe(401);
    expect(await whoami({ authorization: `Bearer ${cookie!.value}` })).toBe(401);
    expect(await whoami({ cookie: cookieHeader, 'x-kaiwu-page': half! })).toBe(200);
    const foreign = { cookie: cookieHeader, 'x-kaiwu-page': half!, origin: 'http://127.0.0.1:1' };
    expect(await whoami(foreign)).toBe(403);
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie);
    expect(stored).not.toContain(cookie!.value);
  });

  test('a code that a signed-in device approves signs a browser in', async () => {
    const { page } = await web.visit({ signedIn: false });
    await page.getByRole('button', { name: 'Show a code' }).click();
    const code = await page.locator('.user-code').innerText();
    expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    await web.output('device.approve', { userCode: code });
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
  });

  test('signing out ends the sign-in here and in the other tab', async () => {
    const { page, context } = await web.visit();
    const second = await context.newPage();
    await second.goto(`${web.world.url}/sessions`);
    await second.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
    await second.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
  });

  test('no secret of a link or a sign-in is in a log', async () => {
    const { page, context } = await web.visit();
    const half = await page.evaluate(() => localStorage.getItem('kaiwu.pageKey'));
    const [cookie] = await context.cookies(`${web.world.url}/v1/whoami`);
    const folder = join(web.world.home, 'logs');
    const logs = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    for (const secret of [half!, cookie!.value]) expect(logs.join('')).not.toContain(secret);
    expect(logs.join('')).not.toContain('#key=');
  });

  test('the page is served with a strict policy, and the API keeps its own', async () => {
    const index = await fetch(`${web.world.url}/sessions/sess_1`);
    expect(index.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    expect(index.headers.get('content-security-policy')).not.toContain('unsafe');
    const script = /src="(\/assets\/[^"]+)"/.exec(await index.text())?.[1];
    const asset = await fetch(web.world.url + script);
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(`${web.world.url}/v1/nothing`)).headers.get('content-type')).toContain('json');
    expect((await fetch(`${web.world.url}/etc/passwd`)).status).toBe(404);
    expect((await fetch(`${web.world.url}/assets/..%2f..%2fmain.js`)).status).toBe(404);
  });
});
