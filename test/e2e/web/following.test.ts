import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

const LONG = { timeout: 20_000 };
/** What the demo agent says in many pieces, each with lines of its own. */
const words = (of: string, lines: number) =>
  Array.from({ length: lines }, (_, i) => `${of} ${i}\n${'-'.repeat(20)}`).join('\n');

describe.skipIf(!hasChromium)('following a transcript (Chromium)', () => {
  let web: WebWorld;
  beforeAll(async () => {
    web = await startWebWorld();
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const left = (page: Page) =>
    page.getByRole('log').evaluate((log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight));

  test('the end stays in sight while the agent talks; whoever went up stays there until they write', async () => {
    const { sessionId } = await web.output('session.spawn_new', {
      agentId: 'demo',
      directory: web.directory,
      title: 'Short',
    });
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${String(sessionId)}`);
    const box = page.getByRole('textbox', { name: 'Message' });
    const log = page.getByRole('log');
    await box.fill(`say ${words('first', 400)}`);
    await box.press('Enter');
    await log.getByText('first 399').last().waitFor();
    await expect.poll(() => page.getByText('Idle').count(), LONG).toBe(1);
    await expect.poll(() => left(page), LONG).toBeLessThan(60);

    // The page grows and shrinks around it.
    await web.output('session.title.set', { sessionId, title: 'Long '.repeat(38).trim() });
    await page.getByRole('heading', { level: 1, name: /^Long Long/ }).waitFor();
    await expect.poll(() => left(page), LONG).toBeLessThan(60);

    await log.hover();
    await page.mouse.wheel(0, -1500);
    await page.getByRole('button', { name: 'To the newest' }).waitFor();
    await web.output('session.message.send', {
      sessionId,
      message: `say ${words('second', 20)}`,
      wait: true,
    });
    await page.getByText('second 19').last().waitFor({ state: 'attached' });
    expect(await left(page)).toBeGreaterThan(1000);

    await box.fill('say third');
    await box.press('Enter');
    await expect.poll(() => left(page), LONG).toBeLessThan(60);
    await context.close();
  });

  test('on a phone nothing of a session reaches into the margin while its agent waits', async () => {
    const input = { agentId: 'demo', directory: web.directory, message: 'ask rm -rf build' };
    const { sessionId } = await web.output('session.spawn_new', input);
    const { page, context } = await web.visit({ size: PHONE });
    // Fingers get larger controls.
    const devtools = await context.newCDPSession(page);
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await page.goto(`${web.world.url}/sessions/${String(sessionId)}`);
    await page.getByRole('button', { name: 'Interrupt' }).waitFor();
    await page.getByRole('button', { name: 'Refuse' }).waitFor();
    const margins = await page
      .locator('.composer-box, .session-head .title-row, .entry')
      .evaluateAll((parts) =>
        parts.map((part) => {
          const { left, right } = part.getBoundingClientRect();
          return Math.round(innerWidth - right - left);
        }),
      );
    expect(margins.filter((difference) => difference < 0)).toEqual([]);
    await context.close();
  });
});
