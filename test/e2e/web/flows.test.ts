import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bareEnv, KAIWU, makeFolder } from '../../helpers/kaiwu.ts';
import { DESKTOP, hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('what a person does in the app (Chromium)', () => {
  let web: WebWorld;
  const start = async (title: string, more: object = {}) => {
    const input = { agentId: 'demo', directory: web.directory, title, ...more };
    return String((await web.output('session.spawn_new', input)).sessionId);
  };
  const say = (sessionId: string, message: string, wait = true) =>
    web.output('session.message.send', { sessionId, message, wait });
  const statusOf = async (sessionId: string) =>
    (await web.output('session.status.get', { sessionId })).status;

  beforeAll(async () => {
    web = await startWebWorld();
    await web.output('policy.set', { rules: { 'session.title.set': { cli: { approval: true } } } });
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  test('thoughts are folded, a plan shows its steps, a step shows its diff and how it stands', async () => {
    const sessionId = await start('Looks closely');
    await say(sessionId, 'think twice about it');
    await say(sessionId, 'plan look; mend; test');
    await say(sessionId, 'edit notes.txt new words', false);
    const { page, context, problems } = await web.visit({ size: PHONE });
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const thoughts = page.locator('details.thoughts');
    await thoughts.waitFor();
    expect(await thoughts.evaluate((fold) => (fold as HTMLDetailsElement).open)).toBe(false);
    await thoughts.getByText('Thoughts').click();
    await thoughts.getByText('twice about it').waitFor();
    const plan = page.getByRole('region', { name: 'Plan' });
    expect((await plan.getByRole('listitem').allInnerTexts()).map((step) => step.split(/\s/)[0])).toEqual([
      'look',
      'mend',
      'test',
    ]);
    const step = page.locator('details.tool');
    await step.locator('.add', { hasText: 'new words' }).waitFor();
    const ask = page.getByRole('region', { name: 'Permission asked' });
    await ask.getByRole('button', { name: 'Allow', exact: true }).click();
    await step.locator('.tool-status.completed').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('what is sent while a turn runs waits its turn, in sight, and runs afterwards', async () => {
    const sessionId = await start('Queues');
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${sessionId}`);
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('sleep 60');
    await message.press('Enter');
    await page.getByRole('button', { name: 'Interrupt', exact: true }).waitFor();
    await message.fill('say next in line');
    await message.press('Enter');
    const queued = page.getByRole('list', { name: 'Queued' });
    await queued.getByText('say next in line').waitFor();
    await page.getByLabel('While it runs').selectOption('interrupt');
    await message.fill('say at once');
    await message.press('Enter');
    await page.locator('.words', { hasText: 'at once' }).waitFor();
    await page.locator('.words', { hasText: 'next in line' }).waitFor();
    await expect.poll(() => queued.count()).toBe(0);
    await context.close();
  });

  test('the text of two sessions streams into two tabs over one connection', async () => {
    const ids = [await start('Left'), await start('Right')] as const;
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/sessions/${ids[0]}`);
    const other = await context.newPage();
    await other.goto(`${web.world.url}/sessions/${ids[1]}`);
    for (const tab of [page, other]) await tab.getByLabel('Message', { exact: true }).waitFor();
    // What is stored is not read: all that is seen came as it was written.
    await context.route('**/v1/actions/session.transcript.get', (route) => route.abort());
    for (const sessionId of ids) await say(sessionId, 'sleep 4', false);
    for (const tab of [page, other]) await tab.locator('.words').first().waitFor();
    await context.unroute('**/v1/actions/session.transcript.get');
    for (const [i, tab] of [page, other].entries()) {
      await tab.locator('.words', { hasText: 'awake' }).waitFor();
      const { events } = await web.output('session.transcript.get', {
        sessionId: ids[i],
        types: ['agent_text'],
      });
      const stored = (events as { text: string }[]).map(({ text }) => text).join('');
      await expect
        .poll(async () => (await tab.locator('.words').allInnerTexts()).join('').replaceAll(/\s/g, ''))
        .toBe(stored.replaceAll(/\s/g, ''));
    }
    await context.close();
  });

  test('what a session started is named on its page and above its cards, and stands below it in the list', async () => {
    const parent = await start('Chief');
    const child = await start('Helper', { parentSessionId: parent });
    await web.output('review.start', {
      sessionId: parent,
      backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
      instructions: 'say fine',
      waitForCompletion: true,
    });
    await say(child, 'ask to dance', false);
    const { page, context } = await web.visit();
    const group = page.locator('.group', { hasText: 'Chief' }).filter({ hasText: 'Helper' });
    await group.getByRole('article', { name: /^Permission/ }).waitFor();
    await page.goto(`${web.world.url}/sessions`);
    const line = page.locator('.session-line', { hasText: 'Helper' });
    await line.getByText('Waiting for you').waitFor();
    await page.getByLabel('Status').selectOption('waiting');
    await expect.poll(() => page.locator('.session-line', { hasText: 'Chief' }).count()).toBe(0);
    await line.waitFor();
    await page.goto(`${web.world.url}/sessions/${parent}`);
    await page.locator('details.facts summary').click();
    await page.locator('details.facts').getByRole('link', { name: 'Helper' }).waitFor();
    await page
      .locator('details.facts')
      .getByText(/Review · (Succeeded|Failed)/)
      .waitFor();
    await context.close();
  });

  test('several are denied with one reason; a finished one is announced to a screen reader', async () => {
    const sessionId = await start('Named');
    for (const title of ['One', 'Two']) await web.envelope('session.title.set', { sessionId, title });
    const { page, context } = await web.visit();
    await page.getByRole('button', { name: 'Approval', exact: true }).click();
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Deny selected' }).click();
    await page.getByLabel(/^Reason/).fill('neither of them');
    await page.getByRole('button', { name: 'Deny request' }).click();
    await expect.poll(() => page.getByText('neither of them').count()).toBe(2);
    const { approvals } = await web.output('approval.request.list', { status: 'denied' });
    expect((approvals as { decisionReason: string }[]).map((each) => each.decisionReason)).toEqual([
      'neither of them',
      'neither of them',
    ]);
    await expect.poll(() => page.locator('[aria-live="polite"]').innerText()).toMatch(/^Denied: /);
    await context.close();
  });

  test('notifications come on request, while nobody looks, and show no markup', async () => {
    const sessionId = await start('Tells');
    const { page, context } = await web.visit();
    await context.grantPermissions(['notifications'], { origin: web.world.url });
    await page.evaluate(() => {
      const shown: string[] = [];
      class Shown extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title: string, { body }: { body: string }) {
          super();
          shown.push(`${title} | ${body}`);
        }
      }
      Object.assign(window, { Notification: Shown, shown });
    });
    const shown = () => page.evaluate(() => (window as unknown as { shown: string[] }).shown);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: /^Notif/, pressed: true }).waitFor();
    await web.envelope('session.title.set', { sessionId, title: 'Seen' });
    await page.getByRole('article', { name: /Seen/ }).waitFor();
    expect(await shown()).toEqual([]);
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true }));
    await web.envelope('session.title.set', { sessionId, title: 'a\u202E<b>x</b>' });
    await expect.poll(shown).toEqual([expect.stringContaining('a\\u202e<b>x</b>')]);
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) /);
    await context.close();
  });

  test('an open page that nobody touches leaves the audit alone while others work', async () => {
    const sessionId = await start('Busy');
    const { page, context } = await web.visit();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    const rows = async () =>
      ((await web.output('audit.list', { surface: 'app', limit: 200 })).rows as unknown[]).length;
    // Once after it was opened, and once when it is live.
    let before = 0;
    const isQuiet = async () => before === (before = await rows());
    await expect.poll(isQuiet, { interval: 1000, timeout: 15_000 }).toBe(true);
    for (const words of ['one', 'two', 'three']) await say(sessionId, `say ${words}`);
    expect(await rows()).toBe(before);
    await page.goto(`${web.world.url}/audit`);
    const lines = page.locator('.audit-list li');
    await lines.first().waitFor();
    expect(await lines.filter({ hasText: 'inbox.list' }).count()).toBe(0);
    await page.getByLabel('Show reads').check();
    await lines.filter({ hasText: 'inbox.list' }).first().waitFor();
    const { stdout } = await web.world.cli(['audit', 'list', '--without-reads']);
    expect(stdout).toContain('session.message.send');
    expect(stdout).not.toContain('inbox.list');
    await context.close();
  });

  test('a command line elsewhere shows a code, and is approved on the page', async () => {
    const home = await makeFolder('kaiwu-elsewhere-');
    const child = spawn(process.execPath, [KAIWU, 'auth', 'login', '--server-url', web.world.url], {
      env: bareEnv(home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        said += part;
      });
    }
    try {
      await expect.poll(() => said, { timeout: 20_000 }).toMatch(/[A-Z]{4}-[A-Z]{4}/);
      const [code = ''] = /[A-Z]{4}-[A-Z]{4}/.exec(said)!;
      const { page, context } = await web.visit({ size: PHONE });
      await page.goto(`${web.world.url}/devices`);
      await page.getByLabel('Sign a device in: the code that it shows').fill(code);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByRole('button', { name: 'Same: approve' }).click();
      expect(await ended).toBe(0);
      await context.close();
    } finally {
      child.kill('SIGKILL');
      await rm(home, { recursive: true, force: true });
    }
  });

  for (const [size, locale] of [
    [PHONE, 'zh-CN'],
    [DESKTOP, 'zh-CN'],
    [PHONE, 'en-GB'],
  ] as const) {
    test(`from a new session to its permission and its approval: ${locale}, ${size.width} wide`, async () => {
      const zh = locale === 'zh-CN';
      const name = (en: string, chinese: string) => (zh ? chinese : en);
      const { page, context, problems } = await web.visit({ size, locale });
      await page.goto(`${web.world.url}/sessions`);
      await page.getByRole('button', { name: name('New session', '新建会话') }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('select').first().selectOption('demo');
      await dialog.locator('input').first().fill(web.directory);
      await dialog.getByRole('button', { name: name('Start', '启动'), exact: true }).click();
      await page.waitForURL(/\/sessions\/sess_/);
      const sessionId = page.url().split('/').at(-1)!;
      await page.getByLabel(name('Message', '消息'), { exact: true }).fill('ask to sing');
      await page.keyboard.press('Enter');
      const ask = page.getByRole('region', { name: name('Permission asked', '请求权限') });
      await ask.getByRole('button', { name: 'Refuse' }).click();
      await page.locator('.words', { hasText: 'refused' }).waitFor();
      await expect.poll(() => statusOf(sessionId)).toBe('idle');
      await web.envelope('session.title.set', { sessionId, title: `By ${locale} ${size.width}` });
      await page.goto(`${web.world.url}/inbox`);
      const card = page.getByRole('article', { name: new RegExp(`By ${locale} ${size.width}`) });
      await card.getByRole('button', { name: name('Approve', '批准'), exact: true }).click();
      await card.getByText(name('Approved and executed', '已批准并执行')).waitFor();
      await page.goto(`${web.world.url}/settings/actions`);
      await page.getByRole('searchbox').fill('session.title.set');
      await page
        .getByRole('button', { name: /^session\.title\.set, MCP/ })
        .or(page.getByRole('button', { name: /^session\.title\.set, mcp/i }))
        .first()
        .click();
      await page.getByRole('dialog').getByLabel(name('Asks first', '先询问')).check();
      await page.getByRole('button', { name: name('Apply to draft', '应用到草稿') }).click();
      await page.getByRole('button', { name: name('Discard', '放弃') }).click();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(Math.max(0, overflow)).toBe(0);
      expect(problems).toEqual([]);
      await context.close();
    });
  }
});
