import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../helpers/api.ts';
import { findings } from './helpers/axe.ts';
import { DESKTOP, hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';
import { addFake, cardOf, fakeProgram, toolOf, unexpected } from './helpers/mcp.ts';

const CANARY = 'canary-geheim-4711';
const TOOLS = [toolOf('read_file', 'Reads a file'), toolOf('write_file', 'Writes a file')];

describe.skipIf(!hasChromium)('the page of MCP servers (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const open = async (options = {}) => {
    const visit = await web.visit(options);
    await visit.page.goto(`${web.world.url}/settings/mcp-servers`);
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    return visit;
  };

  test('a program is added by the keyboard, with a secret that is never seen again', async () => {
    const { page, context, problems } = await open();
    await page.getByText('No MCP server yet.').waitFor();
    await page.keyboard.press('c');
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('files');
    const { command, args } = fakeProgram({ tools: TOOLS });
    await form.getByRole('textbox', { name: 'Program' }).fill(command);
    await form.getByLabel('Arguments').fill(args.join('\n'));
    await form.getByRole('button', { name: 'Add one: Environment variables' }).press('Enter');
    await form.getByLabel('Environment variables 1: Name').fill('API_KEY');
    await form.getByLabel('Environment variables 1: Value').fill(CANARY);
    expect(await form.getByLabel('Environment variables 1: Value').getAttribute('type')).toBe('password');
    await form.getByLabel('Without these tools').fill('write_*');
    expect(await findings(page)).toEqual([]);
    await form.getByRole('textbox', { name: 'Name', exact: true }).press('Enter');
    await form.waitFor({ state: 'detached' });

    const card = cardOf(page, 'files');
    await card.getByText('Ready').waitFor();
    await card.getByText('In the backend · fake 1.0.0').waitFor();
    await card.getByText('1 available').waitFor();
    await card.locator('summary', { hasText: 'Tools' }).click();
    await card.locator('li', { hasText: 'write_file' }).getByText('It is among exclude_tools').waitFor();

    await card.getByRole('button', { name: 'Edit' }).click();
    await form.getByText('Set, and not shown: API_KEY').waitFor();
    expect(await page.content()).not.toContain(CANARY);
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(kept + page.url()).not.toContain('canary');
    expect((await api.output('mcp.server.get', { name: 'files' })).secrets).toEqual(['env.API_KEY']);
    expect(unexpected(problems)).toEqual([]);
    await context.close();
  });

  test('what is edited changes, what is not stays, secrets among it', async () => {
    const { page, context, problems } = await open();
    const card = cardOf(page, 'files');
    const form = page.getByRole('dialog');
    await card.getByRole('button', { name: 'Edit' }).click();
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('papers');
    await form.getByLabel('Without these tools').fill('');
    await form.getByLabel('found by search only').check();
    await form.getByLabel('Only some').check();
    const demo = form.getByLabel('Demo').first();
    await demo.press('Space');
    expect(await demo.evaluate((box) => box === document.activeElement)).toBe(true);
    // What is still asked for takes the dialog from nobody.
    expect(await page.locator('dialog:modal').count()).toBe(1);
    await form.getByText('More', { exact: true }).click();
    await form.getByLabel('Longest call').fill('30');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await cardOf(page, 'papers').getByText('2 available').waitFor();
    expect(await api.output('mcp.server.get', { name: 'papers' })).toMatchObject({
      secrets: ['env.API_KEY'],
      config: { exposure: 'discoverable', timeoutSeconds: 30, sessions: { agents: ['demo'] } },
    });

    await cardOf(page, 'papers').getByRole('button', { name: 'Edit' }).click();
    await form.getByRole('button', { name: 'Replace: Environment variables' }).click();
    await form.getByLabel('Environment variables 1: Value').fill('another');
    await form.getByRole('button', { name: 'Add one: Environment variables' }).click();
    await form.getByLabel('Environment variables 2: Name').fill('OTHER');
    await form.getByLabel('Environment variables 2: Value').fill('x');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const { secrets } = await api.output('mcp.server.get', { name: 'papers' });
    expect(secrets).toEqual(['env.API_KEY', 'env.OTHER']);

    await cardOf(page, 'papers').getByRole('button', { name: 'Edit' }).click();
    await form.getByLabel('Address').check();
    await form.getByRole('textbox', { name: 'Address' }).fill('ftp://nowhere');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('begins with https://').waitFor();
    expect(await form.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('papers');
    expect(unexpected(problems)).toEqual([]);
    await context.close();
  });

  test('a server is tested, disabled, enabled and removed in two steps, live', async () => {
    await addFake(api, 'broken', { exit: 3, stderr: 'Error: <b>no</b> database \u202Egnp\n' });
    const { page, context, problems } = await open();
    const broken = cardOf(page, 'broken');
    await broken.getByText('Failed').waitFor();
    await broken.getByText('exit code 3').waitFor();
    await broken.getByText('Error: <b>no</b> database \\u202egnp').last().waitFor();
    await api.output('mcp.server.update', { name: 'broken', args: fakeProgram({}).args });
    await broken.getByText('Ready').waitFor();
    await broken.getByRole('button', { name: 'Test' }).click();
    await page.getByText('broken: Ready').waitFor({ state: 'attached' });

    await broken.getByRole('button', { name: 'Disable' }).click();
    await broken.getByText('Disabled').waitFor();
    await broken.getByText('12 off with its server').waitFor();
    await broken.getByRole('button', { name: 'Enable' }).click();
    await broken.getByText('Ready').waitFor();

    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await page.locator('article:focus h2').innerText()).toBe('broken');
    await broken.getByRole('button', { name: 'Remove' }).click();
    await broken.getByRole('button', { name: 'Cancel' }).click();
    await broken.getByRole('button', { name: 'Remove' }).click();
    await broken.getByRole('button', { name: 'Remove with its secrets' }).click();
    await broken.waitFor({ state: 'detached' });
    expect(unexpected(problems)).toEqual([]);
    await context.close();
  });

  test('a configuration of another host fills several; what is wrong with one keeps no other', async () => {
    const { page, context, problems } = await open({ size: PHONE });
    await page.getByRole('button', { name: 'Paste JSON' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Configuration').fill('{"mcpServers": {"one": }}');
    await dialog.getByText('line 1, column 24').waitFor();
    const config = {
      mcpServers: {
        one: { ...fakeProgram({}), env: { KEY: CANARY } },
        papers: { ...fakeProgram({ count: 3 }), disabled: true },
        wrong: { ...fakeProgram({}), timeoutSeconds: -1 },
        skipped: { colour: 'red' },
      },
    };
    await dialog.getByLabel('Configuration').fill(`// mine\n${JSON.stringify(config)}`);
    await dialog.getByText('Entry 4 (skipped): has neither url nor command').waitFor();
    await dialog.getByText('with secrets: KEY').waitFor();
    await dialog.getByRole('button', { name: 'Add 3' }).click();
    await dialog.locator('li', { hasText: 'wrong' }).getByText('timeoutSeconds').waitFor();
    await dialog.getByText('added', { exact: true }).first().waitFor();
    expect(await findings(page)).toEqual([]);
    await dialog.getByLabel('wrong').uncheck();
    expect(await dialog.getByRole('button', { name: 'Add 0' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await cardOf(page, 'one').getByText('Ready').waitFor();
    await cardOf(page, 'papers-2').getByText('Disabled').waitFor();
    expect(await page.content()).not.toContain(CANARY);
    expect(unexpected(problems)).toEqual([]);
    await context.close();
  });

  test("servers of a machine's own file are shown, and changed only there", async () => {
    const file = join(web.world.home, 'profiles/local/mcp-servers.json');
    const write = (servers: object) =>
      writeFile(file, JSON.stringify({ mcpServers: servers }), { mode: 0o600 });
    const { page, context, problems } = await open();
    await write({ mine: { ...fakeProgram({ tools: TOOLS }), env: { KEY: CANARY } } });
    const mine = cardOf(page, 'mine');
    await mine.getByText('Ready').waitFor({ timeout: 20_000 });
    await mine.getByText(/^From the file of/).waitFor();
    await mine.getByText('Changed in that file alone.').waitFor();
    expect(await mine.getByRole('button').allInnerTexts()).toEqual(['Test']);
    await write({});
    await mine.getByText('It is no longer in the file').waitFor({ timeout: 20_000 });
    await mine.getByRole('button', { name: 'Remove' }).click();
    await mine.getByRole('button', { name: 'Remove with its secrets' }).click();
    await mine.waitFor({ state: 'detached' });
    expect(unexpected(problems)).toEqual([]);
    await context.close();
  });

  test('is accessible in each size and colour', async () => {
    for (const [scheme, size, locale] of [
      ['light', DESKTOP, 'en-GB'],
      ['dark', PHONE, 'zh-CN'],
    ] as const) {
      const { page, context, problems } = await open({ size, locale });
      await page.emulateMedia({ colorScheme: scheme });
      await page
        .locator('summary', { has: page.locator('.tool-state') })
        .first()
        .click();
      await page.locator('.tools li').first().waitFor();
      expect(await findings(page)).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(Math.max(0, overflow)).toBe(0);
      expect(unexpected(problems)).toEqual([]);
      await context.close();
    }
  });
});
