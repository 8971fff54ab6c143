import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

/** What strangers write to fool whoever reads it. */
const HOSTILE =
  'a\u202Egnp.exe rm\u200B -rf \u001B[2K\u001B[1A x\ry <b>Approved by admin</b> [Approve](https://evil.example) ![x](https://evil.example/p.png)';

describe.skipIf(!hasChromium)('the inbox (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  const titled = (title: string) => web.envelope('session.title.set', { sessionId, title });
  const titleNow = async () => (await web.output('session.status.get', { sessionId })).title;

  beforeAll(async () => {
    web = await startWebWorld();
    await web.output('policy.set', { rules: { 'session.title.set': { cli: { approval: true } } } });
    const started = await web.output('session.spawn_new', {
      agentId: 'demo',
      directory: web.directory,
      title: 'First',
    });
    sessionId = String(started.sessionId);
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  test('a request appears by itself, is approved, and its outcome stays on the card; two tabs agree', async () => {
    const { page, context, problems } = await web.visit();
    await page.getByText('Nothing waits for you').waitFor();
    const second = await context.newPage();
    await second.goto(`${web.world.url}/inbox`);
    await second.getByText('Nothing waits for you').waitFor();
    await titled('Second');
    const card = page.getByRole('article', { name: /^Approval/ });
    await card.getByRole('heading', { name: 'Set the title of a session' }).waitFor();
    await card.getByText(sessionId).waitFor();
    await card.getByText('Second', { exact: true }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(1\) Inbox/);
    // What a tab has never shown leaves it no outcome to show.
    await second.getByRole('article', { name: /^Approval/ }).waitFor();
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await card.getByText('Approved and executed').waitFor();
    await second.getByRole('article').getByText('Approved and executed').waitFor();
    expect(await second.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    expect(await titleNow()).toBe('Second');
    await expect.poll(() => page.title()).toBe('Inbox · Kaiwu');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a request is denied by keys alone, with a reason that the requester reads', async () => {
    await titled('Third');
    const { page, context } = await web.visit();
    await page.getByRole('article').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.keyboard.type('not today');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Denied', { exact: true }).waitFor();
    await page.getByText('not today').waitFor();
    const { approvals } = await web.output('approval.request.list', { status: 'denied' });
    expect(approvals).toMatchObject([
      { decisionReason: 'not today', decidedBy: expect.stringContaining('app') },
    ]);
    expect(await titleNow()).toBe('Second');
    await context.close();
  });

  test('several at once', async () => {
    for (const title of ['One', 'Two', 'Three']) await titled(title);
    const { page, context } = await web.visit({ size: PHONE });
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Approve selected' }).click();
    await expect.poll(() => page.getByText('Approved and executed').count()).toBe(3);
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await context.close();
  });

  test('the like of a request can be allowed for a while', async () => {
    await titled('Again');
    const { page, context } = await web.visit();
    await page.getByRole('button', { name: 'Allow similar…' }).click();
    await page.getByRole('button', { name: 'Approve and allow similar' }).click();
    await page.getByText('Approved and executed').waitFor();
    await expect
      .poll(async () => (await web.output('approval.grant.list', { active: true })).grants)
      .toHaveLength(1);
    expect(await titled('Again')).toMatchObject({ status: 'ok' });
    await context.close();
  });

  test('what strangers write is shown as text, with what is invisible made visible', async () => {
    const filed = await titled(HOSTILE);
    const { page, context, problems } = await web.visit();
    const card = page.getByRole('article', { name: /^Approval/ });
    await card
      .getByText('a\\u202egnp.exe rm\\u200b -rf \\u001b[2K\\u001b[1A x\\u000dy <b>Approved by admin</b>')
      .waitFor();
    expect(await card.locator('a, b, img').count()).toBe(0);
    expect(problems).toEqual([]);
    const { artifactId } = filed.approval as { artifactId: string };
    await web.output('approval.request.decide', { artifactId, decision: 'deny' });
    await card.getByText('Denied', { exact: true }).waitFor();
    await context.close();
  });

  test('a permission is answered with the options that the agent offers', async () => {
    const { page, context } = await web.visit();
    await web.output('session.message.send', { sessionId, message: 'ask to dance' });
    const card = page.getByRole('article', { name: /^Permission.*dance/ });
    await card.waitFor();
    const offered = (await web.output('session.status.get', { sessionId })).permission as {
      options: { name: string }[];
    };
    const names = await card.getByRole('button').allInnerTexts();
    expect(names.slice(0, offered.options.length)).toEqual(offered.options.map(({ name }) => name));
    await card.getByRole('button').first().click();
    await card.getByText(`Answered: ${names[0]}`).waitFor();
    await expect
      .poll(async () => (await web.output('session.status.get', { sessionId })).status)
      .toBe('idle');
    await context.close();
  });

  test('what an edit would change is on its card; a question is answered by its form', async () => {
    const { page, context, problems } = await web.visit();
    await web.output('session.message.send', { sessionId, message: 'edit notes.txt new words' });
    const permission = page.getByRole('article', { name: /^Permission/ });
    await permission.locator('.add', { hasText: 'new words' }).waitFor();
    await permission.getByRole('button', { name: 'Allow', exact: true }).click();
    await permission.getByText('Answered: Allow').waitFor();
    await expect
      .poll(async () => (await web.output('session.status.get', { sessionId })).status)
      .toBe('idle');

    await web.output('session.message.send', { sessionId, message: 'question Which colour?' });
    const question = page.getByRole('article', { name: /^Question.*Which colour/ });
    await question.getByLabel('Answer').fill('blue');
    await question.getByRole('button', { name: 'Send answer' }).click();
    await question.getByText('Answered: blue').waitFor();
    await expect
      .poll(async () => (await web.output('session.status.get', { sessionId })).status)
      .toBe('idle');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a decision is recorded at once, and executed when its action has ended', async () => {
    await web.output('policy.set', { rules: { 'session.message.send': { cli: { approval: true } } } });
    await web.envelope('session.message.send', { sessionId, message: 'sleep 4', wait: true });
    await web.output('policy.set', { rules: { 'session.message.send': null } });
    const { page, context } = await web.visit();
    const card = page.getByRole('article', { name: /^Approval/ });
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await card.getByText('Recorded. Running now…').waitFor();
    await card.getByText('Approved and executed').waitFor();
    await card.getByText('Result').click();
    await card.getByText('completed', { exact: true }).waitFor();
    await context.close();
  });

  test('after the backend was killed and is back, the page goes on by itself', async () => {
    const { page, context } = await web.visit();
    await page.getByText('Live', { exact: true }).waitFor();
    await titled('Waits over a restart');
    await page.getByRole('article', { name: /Waits over a restart/ }).waitFor();
    await web.restart();
    await page.getByText('Live', { exact: true }).waitFor();
    const card = page.getByRole('article', { name: /Waits over a restart/ });
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await card.getByText('Approved and executed').waitFor();
    await context.close();
  }, 120_000);

  test('eight tabs are live over one connection, also after the one that held it was closed', async () => {
    const { page, context } = await web.visit();
    await page.getByText('Live', { exact: true }).waitFor();
    let feeds = 0;
    context.on('request', (request) => {
      if (request.url().includes('/v1/events')) feeds++;
    });
    const tabs = [page];
    while (tabs.length < 8) {
      const tab = await context.newPage();
      await tab.goto(`${web.world.url}/inbox`);
      tabs.push(tab);
    }
    await Promise.all(tabs.map((tab) => tab.getByText('Live', { exact: true }).waitFor()));
    expect(feeds).toBe(0);
    const { approval } = (await titled('For all tabs')) as { approval: { artifactId: string } };
    await Promise.all(tabs.map((tab) => tab.getByRole('article', { name: /For all tabs/ }).waitFor()));
    await page.close();
    await expect.poll(() => feeds).toBe(1);
    const { artifactId } = approval;
    await web.output('approval.request.decide', { artifactId, decision: 'deny' });
    const others = tabs.slice(1);
    await Promise.all(others.map((tab) => tab.getByText('Denied', { exact: true }).waitFor()));
    await context.close();
  }, 120_000);

  test('in Chinese, by the language of the browser', async () => {
    await titled('另一个');
    const { page, context } = await web.visit({ locale: 'zh-CN' });
    const card = page.getByRole('article', { name: /^审批/ });
    await card.getByRole('heading', { name: '设置会话标题' }).waitFor();
    await card.getByRole('button', { name: '批准', exact: true }).click();
    await card.getByText('已批准并执行').waitFor();
    await context.close();
  });
});
