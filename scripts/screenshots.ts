import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE, startWebWorld } from '../test/e2e/web/helpers/browser.ts';
import { root } from './registry.ts';

/** Writes docs/img/*.png: the main pages of the app over a small world that is the same each time. */

const folder = join(root, 'docs/img');
await mkdir(folder, { recursive: true });
const web = await startWebWorld();

async function start(title: string, more: object = {}): Promise<string> {
  const input = { agentId: 'demo', directory: web.directory, title, ...more };
  return String((await web.output('session.spawn_new', input)).sessionId);
}

async function fill(): Promise<string> {
  const rules = {
    'session.archive': { cli: { approval: true } },
    'session.title.set': { mcp: { approval: true } },
  };
  await web.output('policy.set', { rules });
  const main = await start('Fix the flaky upload test');
  const child = await start('Review of the payment service', { parentSessionId: main });
  const failed = await start('Weekly dependency updates');
  const say = (sessionId: string, message: string, wait = true) =>
    web.output('session.message.send', { sessionId, message, wait });
  await say(main, 'ls');
  await say(main, 'plan Find out why it fails; Wait for the event; Run it a hundred times');
  await say(main, 'say The test waits for a **fixed time**. It should wait for `upload.done` instead.');
  await say(main, 'edit test/upload.test.ts await once(upload, "done");', false);
  await say(child, 'ask npm audit fix --force', false);
  await say(failed, 'crash');
  await web.envelope('session.archive', { sessionId: failed });
  await addServers();
  return main;
}

/** One that runs, with a tool left out, and two others as they may be found. */
async function addServers(): Promise<void> {
  const program = { command: 'npx', args: ['--no', 'mcp-server-everything'], cwd: root, where: 'backend' };
  await web.output('mcp.server.add', { name: 'everything', ...program, exclude_tools: ['get-env'] });
  await web.output('mcp.server.add', {
    name: 'calendar',
    url: 'https://calendar.example/mcp',
    enabled: false,
  });
  await web.output('mcp.server.add', { name: 'tickets', url: 'http://127.0.0.1:9/mcp' });
}

try {
  const sessionId = await fill();
  const shoot = async (page: Page, path: string, name: string) => {
    await page.goto(web.world.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // The last answers are drawn.
    await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  };
  const { page } = await web.visit({ size: DESKTOP });
  await shoot(page, '/inbox', 'inbox');
  await shoot(page, '/sessions', 'sessions');
  await shoot(page, `/sessions/${sessionId}`, 'session');
  await shoot(page, '/settings/actions', 'actions');
  await shoot(page, '/settings/mcp-servers', 'mcp-servers');
  const phone = await web.visit({ size: PHONE, locale: 'zh-CN' });
  await phone.page.emulateMedia({ colorScheme: 'dark' });
  await shoot(phone.page, '/inbox', 'inbox-phone');
  await shoot(phone.page, `/sessions/${sessionId}`, 'session-phone');
} finally {
  await web.stop();
}
