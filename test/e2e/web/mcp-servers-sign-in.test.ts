import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OAuthWorld, startOAuthWorld } from '../../managed/oauth-fakes.ts';
import { type Api, createApi } from '../helpers/api.ts';
import { findings } from './helpers/axe.ts';
import { hasChromium, startWebWorld, type WebWorld } from './helpers/browser.ts';
import { cardOf, unexpected } from './helpers/mcp.ts';

describe.skipIf(!hasChromium)('signing in to an MCP server (Chromium)', () => {
  let web: WebWorld;
  let api: Api;
  let there: OAuthWorld;
  beforeAll(async () => {
    web = await startWebWorld();
    api = createApi(web.world);
    there = await startOAuthWorld();
    await api.output('mcp.server.add', { name: 'home', url: there.mcp.url });
  }, 120_000);
  afterAll(async () => {
    await web?.stop();
    await there?.close();
  }, 60_000);

  /** Goes to where the person signs in, and lets them come back with what they are given there. */
  async function goAndComeBack(give: (authorizationUrl: string) => Record<string, string>) {
    const { page, context } = await web.visit();
    await page.route(`${there.auth.url}/authorize*`, (route) => {
      const url = route.request().url();
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      for (const [name, value] of Object.entries(give(url))) back.searchParams.set(name, value);
      const body = `<a href="${back.href.replaceAll('&', '&amp;')}">Consent</a>`;
      return route.fulfill({ contentType: 'text/html', body });
    });
    await page.goto(`${web.world.url}/settings/mcp-servers`);
    const card = cardOf(page, 'home');
    await card.getByText('Sign-in needed', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Sign in' }).click();
    const { host } = new URL(there.auth.url);
    const goOn = card.getByRole('button', { name: `Go on to ${host}` });
    await goOn.waitFor();
    await expect.poll(() => goOn.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await findings(page)).toEqual([]);
    await goOn.press('Enter');
    await page.getByRole('link', { name: 'Consent' }).click();
    return { page, context };
  }

  test('a sign-in that is refused, and one that nobody began, say so', async () => {
    const { page, context } = await goAndComeBack((url) => ({
      state: there.auth.consent(url).state,
      error: 'access_denied',
    }));
    await page.getByRole('alert').getByText('was refused there').waitFor();
    await page.goto(`${web.world.url}/settings/mcp-servers/signed-in?state=invented&code=abc`);
    await page.getByRole('alert').getByText('There is no sign-in with this state').waitFor();
    expect(page.url()).toBe(`${web.world.url}/settings/mcp-servers/signed-in`);
    await page.reload();
    await page.getByText('No sign-in came back here').waitFor();
    expect(await findings(page)).toEqual([]);
    await context.close();
  });

  test('a server that names no web page is gone to nowhere', async () => {
    there.auth.metadata = { authorization_endpoint: 'javascript:alert(1)' };
    const { page, context, problems } = await web.visit();
    await page.goto(`${web.world.url}/settings/mcp-servers`);
    const card = cardOf(page, 'home');
    await card.getByRole('button', { name: 'Sign in' }).click();
    await card.getByRole('alert').waitFor();
    expect(await card.getByRole('button', { name: /^Go on/ }).count()).toBe(0);
    expect(unexpected(problems)).toEqual([]);
    there.auth.metadata = {};
    await context.close();
  });

  test('a person signs in there and comes back to a server that is ready; nothing of it is kept here', async () => {
    there.auth.metadata = { authorization_response_iss_parameter_supported: true };
    let code = '';
    const { page, context } = await goAndComeBack((url) => {
      const given = there.auth.consent(url);
      code = given.code;
      return { ...given, iss: there.auth.url };
    });
    await page.getByText('Signed in to home.').waitFor();
    await page.getByText('Ready').waitFor();
    expect(page.url()).toBe(`${web.world.url}/settings/mcp-servers/signed-in`);
    expect(code).not.toBe('');
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.body.innerHTML]),
    );
    expect(kept).not.toContain(code);
    await page.getByRole('link', { name: 'To the MCP servers' }).click();
    await cardOf(page, 'home').getByText('Ready').waitFor();
    await context.close();
  });
});
