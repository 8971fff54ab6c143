import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('signed out (Chromium)', () => {
  let web: WebWorld;
  beforeAll(async () => {
    web = await startWebWorld();
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  async function writing() {
    const input = { agentId: 'demo', directory: web.directory };
    const { sessionId } = await web.output('session.spawn_new', input);
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${String(sessionId)}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('half of it');
    const drafts = () =>
      page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('draft.')).length);
    expect(await drafts()).toBe(1);
    return { page, context, drafts };
  }

  test('a browser that is revoked says why it has to sign in, and does not lose what was being written', async () => {
    const { page, context, drafts } = await writing();
    const { devices } = await web.output('device.list', {});
    const browser = (devices as { deviceId: string; name: string; revokedAt?: string }[]).find(
      ({ name, revokedAt }) => name.includes('Chrome') && revokedAt === undefined,
    );
    await web.output('device.revoke', { deviceId: browser?.deviceId });
    await page.getByText('This browser was signed out').waitFor();
    expect(await drafts()).toBe(1);
    await context.close();
  });

  test('who signs out leaves nothing of what they were writing', async () => {
    const { page, context, drafts } = await writing();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
    expect(await page.getByText('This browser was signed out').count()).toBe(0);
    expect(await drafts()).toBe(0);
    await context.close();
  });
});
