import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';

describe.skipIf(!hasChromium)('settings, machines, runs, audit and devices (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  beforeAll(async () => {
    web = await startWebWorld();
    const input = { agentId: 'demo', directory: web.directory, title: 'One' };
    sessionId = String((await web.output('session.spawn_new', input)).sessionId);
  }, 120_000);
  afterAll(() => web?.stop(), 60_000);

  const rules = async () => (await web.output('policy.get', {})).rules as Record<string, unknown>;

  test('a change of the policy is a draft with its replay, is saved, and can be undone', async () => {
    await web.output('session.title.set', { sessionId, title: 'Two' });
    const { page, context, problems } = await web.visit();
    await page.goto(`${web.world.url}/settings/actions`);
    await page.getByLabel('Filter by name or id').fill('title');
    await page.getByRole('button', { name: 'session.title.set, command line: Runs · direct' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('by default').waitFor();
    await dialog.getByRole('group', { name: 'Approval' }).getByLabel('Asks first').check();
    await dialog.getByText('by session.title.set').waitFor();
    await dialog.getByRole('button', { name: 'Apply to draft' }).click();
    const draft = page.getByRole('region', { name: 'Draft' });
    await draft.getByText(/newly ask [1-9]/).waitFor();
    expect(await rules()).toEqual({});
    await draft.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'session.title.set, command line: Asks · direct' }).waitFor();
    expect(await rules()).toEqual({ 'session.title.set': { cli: { approval: true } } });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'session.title.set, command line: Runs · direct' }).waitFor();
    expect(await rules()).toEqual({});
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a family is turned off at once; what a floor holds cannot be changed; others see the change', async () => {
    const { page, context } = await web.visit();
    const other = await context.newPage();
    for (const each of [page, other]) await each.goto(`${web.world.url}/settings/actions`);
    await page.getByRole('button', { name: 'review.*, MCP: no rule' }).click();
    await page.getByRole('group', { name: 'Enabled' }).getByLabel('Off').check();
    await page.getByRole('button', { name: 'Apply to draft' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('button', { name: 'review.start, MCP: Off' }).waitFor();
    await page.getByRole('button', { name: /^approval\.request\.list, MCP/ }).click();
    await expect.poll(() => page.getByLabel('Asks first').isDisabled()).toBe(true);
    await page.getByText('Fixed: no rule can change this.').first().waitFor();
    await context.close();
  });

  test('what would newly run unattended needs a second yes', async () => {
    await web.output('policy.set', { rules: { 'session.title.set': { cli: { approval: true } } } });
    const filed = (await web.envelope('session.title.set', { sessionId, title: 'Three' })).approval;
    const { artifactId } = filed as { artifactId: string };
    await web.output('approval.request.decide', { artifactId, decision: 'approve' });
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/settings/actions`);
    await page.getByLabel('Only what differs from the default').check();
    await page.getByRole('button', { name: 'session.title.set, command line: Asks · direct' }).click();
    await page.getByRole('group', { name: 'Approval' }).getByLabel('Use default').check();
    await page.getByRole('button', { name: 'Apply to draft' }).click();
    const confirm = page.getByLabel(/would now run without a person/);
    await confirm.waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await confirm.check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await rules()).not.toHaveProperty(['session.title.set']);
    await context.close();
  });

  test('machines with their agents, and what those need', async () => {
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/machines`);
    const row = page.getByRole('row', { name: /Demo agent/ });
    await row.getByText('Ready').waitFor();
    await page
      .getByRole('row', { name: /Codex/ })
      .getByText(/Not installed|Needs setup|Ready/)
      .waitFor();
    await page.getByText('Online').waitFor();
    await context.close();
  });

  test('a run appears, and shows its result', async () => {
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/runs`);
    await page.getByText('No runs').waitFor();
    await web.output('review.start', {
      sessionId,
      backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
      instructions: 'say nothing to find',
      waitForCompletion: true,
    });
    const card = page.getByRole('article', { name: /^Review/ });
    await card.getByText(/Succeeded|Failed/).waitFor();
    await card.getByText('Result').click();
    await expect.poll(() => card.locator('details').innerText()).not.toContain('Loading');
    await context.close();
  });

  test('the audit is filtered, verified and exported', async () => {
    const { page, context } = await web.visit();
    await page.goto(`${web.world.url}/audit`);
    await page.getByText('session.title.set').first().waitFor();
    await page.getByLabel('Action').fill('policy.set');
    await expect.poll(() => page.locator('.audit-list li').count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { actionId: string }).actionId)).toEqual(['policy.set']);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Intact: \d+ rows checked/).waitFor();
    await page.getByRole('button', { name: 'Follow' }).click();
    await web.output('policy.set', { rules: { 'session.archive': { mcp: { approval: true } } } });
    await expect.poll(() => page.locator('.audit-list li').count(), { timeout: 15_000 }).toBe(2);
    await context.close();
  });

  test('a code is approved, a token is made and shown once, a browser is revoked', async () => {
    const { page, context } = await web.visit();
    const waiting = await web.visit({ signedIn: false });
    await waiting.page.getByRole('button', { name: 'Show a code' }).click();
    const code = await waiting.page.locator('.user-code').innerText();
    await page.goto(`${web.world.url}/devices`);
    await page
      .getByLabel('Sign a device in: the code that it shows')
      .fill(code.toLowerCase().replace('-', ' '));
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('button', { name: 'Same: approve' }).click();
    await waiting.page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'New token…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('dashboard');
    await page.getByRole('button', { name: 'Make token' }).click();
    await page.getByRole('dialog').getByText(/^kw_/).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('li', { hasText: 'dashboard' }).waitFor();
    await page.getByRole('button', { name: 'Revoke: dashboard' }).click();
    await page.getByRole('button', { name: 'Revoke for good' }).click();
    await page.getByText('None.').waitFor();

    await page.reload();
    const others = page.locator('li', { hasText: 'Chrome' }).filter({ hasNotText: 'This browser' });
    await others
      .first()
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await page.getByRole('button', { name: 'Revoke for good' }).click();
    await waiting.page.getByRole('heading', { name: 'Sign in to Kaiwu' }).waitFor();
    await context.close();
  });
});
