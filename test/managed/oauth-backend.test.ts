import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../e2e/helpers/api.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type FakeMcp, startFakeMcp } from './http-fakes.ts';
import { type OAuthWorld, REDIRECT, startOAuthWorld } from './oauth-fakes.ts';

let world: World;
let outside: OAuthWorld;
let open: FakeMcp;
beforeAll(async () => {
  [world, outside, open] = await Promise.all([startWorld(), startOAuthWorld(), startFakeMcp()]);
});
afterAll(async () => {
  await world.stop();
  await Promise.all([outside.close(), open.close()]);
});

it('a server of the account is signed in to, loses its sign-in in the middle, and is signed in to again', async () => {
  const api = createApi(world);
  const login = async () => {
    const { authorizationUrl } = await api.output('mcp.server.login.begin', {
      name: 'closed',
      redirectUri: REDIRECT,
    });
    return api.output('mcp.server.login.complete', outside.auth.consent(authorizationUrl));
  };
  const call = (server: string) => api.call('mcp.tool.call', { server, tool: 'echo', arguments: { n: 1 } });

  await api.output('mcp.server.add', { name: 'open', url: open.url });
  const added = await api.output('mcp.server.add', { name: 'closed', url: outside.mcp.url });
  expect(added).toMatchObject({ status: 'sign_in_needed', reason: expect.stringContaining('sign-in') });

  expect(await login()).toMatchObject({ status: 'ready' });
  expect(await call('closed')).toMatchObject({ status: 'ok', output: { content: [{ text: '{"n":1}' }] } });

  outside.auth.good.clear();
  outside.auth.refreshTokens.clear();
  for (let n = 0; n < 5; n++) {
    expect(await call('closed')).toMatchObject({
      status: 'error',
      error: { code: 'mcp_sign_in_needed', hint: expect.stringContaining('login closed') },
    });
  }
  expect(await api.output('mcp.server.get', { name: 'closed' })).toMatchObject({ status: 'sign_in_needed' });
  expect(await call('open')).toMatchObject({ status: 'ok' });

  expect(await login()).toMatchObject({ status: 'ready' });
  expect(await call('closed')).toMatchObject({ status: 'ok' });
  expect(JSON.stringify(world.output())).not.toContain('geheim');
});
