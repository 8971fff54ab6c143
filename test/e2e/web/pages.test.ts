import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findings } from './helpers/axe.ts';
import { DESKTOP, hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('every page of the app (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  beforeAll(async () => {
    web = await startWebWorld();
    const rules = { 'session.title.set': { cli: { approval: true } } };
    await web.output('policy.set', { rules });
    const input = { agentId: 'demo', directory: web.directory, title: 'One' };
    sessionId = String((await web.output('session.spawn_new', input)).sessionId);
    await web.output('session.message.send', { sessionId, message: 'ls', wait: true });
    await web.output('session.message.send', { sessionId, message: 'ask to dance' });
    await web.envelope('session.title.set', { sessionId, title: 'Two' });
    await web.output('review.start', {
      sessionId,
      backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
      instructions: 'Look at it',
    });
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const PATHS = [
    '/inbox',
    '/sessions',
    '/files',
    '/settings/actions',
    '/settings/mcp-servers',
    '/settings/providers',
    '/machines',
    '/runs',
    '/audit',
    '/devices',
  ];

  for (const [scheme, size] of [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const) {
    test(`is accessible and quiet, ${scheme}, ${size.width} pixels wide`, async () => {
      const { page, context, problems } = await web.visit({ size });
      await page.emulateMedia({ colorScheme: scheme });
      for (const path of [...PATHS, `/sessions/${sessionId}`]) {
        await page.goto(web.world.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        expect({ path, found: await findings(page) }).toEqual({ path, found: [] });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect({ path, overflow: Math.max(0, overflow) }).toEqual({ path, overflow: 0 });
      }
      expect(problems).toEqual([]);
      await context.close();
    });
  }

  test('the sign-in page and the dialogs are accessible', async () => {
    const out = await web.visit({ signedIn: false });
    await out.page.getByRole('heading', { level: 1 }).waitFor();
    expect(await findings(out.page)).toEqual([]);
    const { page, context } = await web.visit();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goto(`${web.world.url}/sessions`);
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByRole('dialog').getByLabel('Agent').waitFor();
    expect(await findings(page)).toEqual([]);
    await context.close();
    await out.context.close();
  });

  test('every page speaks Chinese, and the choice is kept', async () => {
    const { page, context } = await web.visit({ size: PHONE });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('dialog').getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('dialog').getByRole('link', { name: '会话' }).waitFor();
    const titles = [
      '收件箱',
      '会话',
      '文件',
      '操作',
      'MCP 服务器',
      '网络搜索',
      '机器',
      '运行',
      '审计',
      '设备',
    ];
    for (const [i, path] of PATHS.entries()) {
      await page.goto(web.world.url + path);
      await page.getByRole('heading', { level: 1, name: titles[i]! }).waitFor();
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
    }
    await context.close();
  });

  test('parts of a page that cannot be loaded are said to be, and loading again mends it', async () => {
    const { page, context } = await web.visit();
    await page.route('**/assets/machines-page*', (route) => route.abort());
    await page.getByRole('link', { name: 'Machines' }).click();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.unroute('**/assets/machines-page*');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Machines', level: 1 }).waitFor();
    await context.close();
  });

  test('keys lead from page to page, and the focus follows', async () => {
    const { page, context } = await web.visit();
    for (const [key, name] of [
      ['s', 'Sessions'],
      ['f', 'Files'],
      ['a', 'Actions'],
      ['t', 'MCP servers'],
      ['m', 'Machines'],
      ['u', 'Audit'],
      ['d', 'Devices'],
      ['r', 'Runs'],
      ['i', 'Inbox'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    }
    await context.close();
  });
});
