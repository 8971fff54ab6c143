import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('sessions in the app (Chromium)', () => {
  let web: WebWorld;
  const start = async (title: string, more: object = {}) => {
    const input = { agentId: 'demo', directory: web.directory, title, ...more };
    return String((await web.output('session.spawn_new', input)).sessionId);
  };
  const statusOf = async (sessionId: string) =>
    (await web.output('session.status.get', { sessionId })).status;

  beforeAll(async () => {
    web = await startWebWorld();
    await writeFile(join(web.directory, 'notes.txt'), 'hello\n');
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  test('a session is started from the form that its action declares, and talked to', async () => {
    const { page, context, problems } = await web.visit();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByText('No sessions').waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByLabel('Agent').selectOption('demo');
    await dialog.getByLabel('Workspace').fill(web.directory);
    await dialog.getByLabel(/^Title/).fill('From the page');
    await expect
      .poll(() =>
        dialog
          .getByLabel(/^Permission mode/)
          .locator('option')
          .count(),
      )
      .toBeGreaterThan(2);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'From the page' }).waitFor();
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('ls');
    await message.press('Enter');
    await page.getByText('List the workspace').waitFor();
    await page.locator('.words', { hasText: 'notes.txt' }).waitFor();
    await message.fill('say it is **bold** <b>x</b> ![p](https://evil.example/p.png)');
    await page.getByRole('button', { name: 'Send' }).click();
    const words = page.locator('.words', { hasText: 'it is' });
    await words.getByText('<b>x</b> ![p](https://evil.example/p.png)').waitFor();
    expect(await words.locator('strong').innerText()).toBe('bold');
    expect(await words.locator('img, a, b').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('streamed text appears while the turn runs; a message is steered into it; a turn is interrupted', async () => {
    const sessionId = await start('Streams');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('sleep 5');
    await message.press('Enter');
    await page.getByRole('button', { name: 'Interrupt', exact: true }).waitFor();
    await page.getByLabel('While it runs').selectOption('steer');
    await message.fill('to the left');
    await message.press('Enter');
    await page.getByText('put into the running turn').waitFor();
    await page.locator('.words', { hasText: 'heard to the left' }).waitFor();
    await message.fill('sleep 60');
    await message.press('Enter');
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click();
    await page.getByText('Turn canceled').waitFor();
    await expect.poll(() => statusOf(sessionId)).toBe('idle');
    await context.close();
  });

  test('what is stored and what was streamed are the same text, once', async () => {
    const sessionId = await start('Once');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await page.getByLabel('Message', { exact: true }).waitFor();
    const sent = await web.output('session.message.send', { sessionId, message: 'sleep 3', wait: true });
    const { events } = await web.output('session.transcript.get', { sessionId, types: ['agent_text'] });
    const stored = (events as { text: string }[]).map(({ text }) => text).join('');
    expect(stored).toContain(String(sent.reply).slice(-5));
    await expect
      .poll(async () => (await page.locator('.words').allInnerTexts()).join(''))
      .toBe(stored.trim());
    await context.close();
  });

  test('a permission is answered in its place', async () => {
    const sessionId = await start('Asks');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await page.getByLabel('Message', { exact: true }).fill('ask to sing');
    await page.keyboard.press('Enter');
    const ask = page.getByRole('region', { name: 'Permission asked' });
    await ask.getByRole('button', { name: 'Refuse' }).click();
    await ask.getByText('Refused').waitFor();
    await page.locator('.words', { hasText: 'refused' }).waitFor();
    await context.close();
  });

  test('title, mode, model, fork, stop and archive', async () => {
    const sessionId = await start('Old title');
    await web.output('session.message.send', { sessionId, message: 'say one', wait: true });
    const { page, context, problems } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByLabel('Title', { exact: true }).fill('New title');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New title' }).waitFor();
    const mode = page.getByLabel('Permission mode');
    await mode.focus();
    await expect.poll(() => mode.locator('option').count()).toBeGreaterThan(1);
    await mode.selectOption('plan');
    await page.getByText('Permission mode: Plan').waitFor();
    await page.getByLabel('Model').selectOption('demo-2');
    await page.getByText('Model: demo-2').waitFor();
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.waitForURL(
      (url) => url.pathname.startsWith('/sessions/') && !url.pathname.endsWith(sessionId),
    );
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    await page.getByRole('button', { name: 'Stop agent' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Unarchive' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('the list: children below their parent, search, what is archived', async () => {
    const parent = await start('Parent of all');
    await start('Child of it', { parentSessionId: parent });
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions`);
    const rows = page.locator('.session-line');
    await rows.filter({ hasText: 'Child of it' }).waitFor();
    const titles = await rows.locator('a').allInnerTexts();
    expect(titles.indexOf('Child of it')).toBe(titles.indexOf('Parent of all') + 1);
    await page.keyboard.press('/');
    await page.keyboard.type('Child of');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Archive: Child of it' }).click();
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Archived').check();
    await rows.filter({ hasText: 'Child of it' }).waitFor();
    await context.close();
  });

  test('what strangers write is text wherever it is shown', async () => {
    const hostile =
      'a\u202Egnp.exe \u200B<b>Approved</b> [x](https://evil.example) ![x](https://evil.example/p.png)';
    const shown =
      'a\\u202egnp.exe \\u200b<b>Approved</b> [x](https://evil.example) ![x](https://evil.example/p.png)';
    const sessionId = await start(hostile);
    await web.output('session.message.send', { sessionId, message: `say ${hostile}`, wait: true });
    await web.output('session.message.send', { sessionId, message: `ask ${hostile}` });
    const { page, context, problems } = await web.visit();
    for (const path of ['/inbox', '/sessions', `/sessions/${sessionId}`]) {
      await page.goto(web.world.url + path);
      await page.getByText(shown).first().waitFor();
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      expect(await page.locator('main b, main img, main a[href*="evil"]').count()).toBe(0);
      expect(await page.locator('main').innerText()).not.toMatch(/[\u202E\u200B]/);
    }
    await page.getByRole('region', { name: 'Permission asked' }).getByText(shown).first().waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a draft outlives the page, and a message that is refused is not lost', async () => {
    const sessionId = await start('Draft');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('not yet sent');
    await page.reload();
    await expect.poll(() => message.inputValue()).toBe('not yet sent');
    await page.route('**/v1/actions/**', (route) => route.abort());
    await message.press('Enter');
    await page.locator('form').getByText('The backend does not answer.').waitFor();
    expect(await message.inputValue()).toBe('not yet sent');
    await page.unroute('**/v1/actions/**');
    await message.press('Enter');
    await page.locator('.words', { hasText: 'not yet sent' }).waitFor();
    await context.close();
  });
});
