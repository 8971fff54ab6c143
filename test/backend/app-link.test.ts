import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type World } from './helpers/world.ts';

let world: World;
let token: string;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
});
afterEach(() => world.end());

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** A link's secret. */
async function newKey(bearer = token): Promise<string> {
  const answer = await world.post('/v1/auth/app-link', {}, { token: bearer });
  expect(answer.status).toBe(200);
  const { url } = (await answer.json()) as { url: string };
  expect(url.startsWith(`${world.url}/#key=`)).toBe(true);
  return url.split('#key=')[1]!;
}

const redeem = (key: string) => world.post('/v1/auth/app-link/redeem', { key, browser: 'Test browser' });

/** What a browser sends after it has redeemed a link. */
async function signedIn(): Promise<{ cookie: string; 'x-kaiwu-page': string }> {
  const answer = await redeem(await newKey());
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  const { pageKey } = (await answer.json()) as { pageKey: string };
  return { cookie, 'x-kaiwu-page': pageKey };
}

describe('a link to the app', () => {
  it('signs a browser in once', async () => {
    const key = await newKey();
    const [first, second] = await Promise.all([redeem(key), redeem(key)]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 400]));
    const cookie = (first.status === 200 ? first : second).headers.get('set-cookie')!;
    expect(cookie).toMatch(/; Max-Age=2592000; Path=\/v1; HttpOnly; SameSite=Strict$/);
    expect(await (await redeem(key)).json()).toEqual({ error: 'invalid_grant' });
  });

  it('is good for five minutes', async () => {
    const [early, late] = [await newKey(), await newKey()];
    world.runtime.advance(290_000);
    expect((await redeem(early)).status).toBe(200);
    world.runtime.advance(20_000);
    expect(await (await redeem(late)).json()).toEqual({ error: 'expired_token' });
  });

  it('makes no device, and its secret is stored as a digest', async () => {
    const key = await newKey();
    const body = { grant_type: DEVICE_GRANT, device_code: key };
    const answer = await world.post('/v1/auth/device/token', body);
    expect(await answer.json()).toEqual({ error: 'invalid_grant' });
    expect(await world.store.deviceCodes.findByHash(key)).toBeUndefined();
    expect(await world.store.deviceCodes.findByHash(world.runtime.sha256(key))).toBeDefined();
  });

  it('is made for a device with all of its rights alone', async () => {
    for (const fields of [
      { kind: 'api' as const },
      { kind: 'device' as const, scope: { surfaces: ['mcp' as const] } },
      { kind: 'agent' as const, scope: { sessionId: 'sess_1' } },
      { kind: 'web' as const },
    ]) {
      const limited = await world.makeToken(fields);
      const answer = await world.post('/v1/auth/app-link', {}, { token: limited });
      expect(await answer.json()).toMatchObject({ error: { code: 'permission_escalation_denied' } });
    }
    expect((await world.post('/v1/auth/app-link', {})).status).toBe(401);
  });

  it("is neither made nor redeemed by an agent's process", async () => {
    const key = await newKey();
    await world.restart({ agentSessionBehind: () => 'sess_a' });
    const refused = { error: { code: 'permission_escalation_denied' } };
    expect(await (await world.post('/v1/auth/app-link', {}, { token })).json()).toMatchObject(refused);
    expect(await (await redeem(key)).json()).toMatchObject(refused);
    const { items } = await world.store.audit.list({}, { limit: 5 });
    expect(items.map(({ actionId, sessionId }) => [actionId, sessionId])).toContainEqual([
      'auth.app_sign_in',
      'sess_a',
    ]);
  });
});

describe('the sign-in of a browser', () => {
  it('is a cookie and a header, of which neither is good alone', async () => {
    const both = await signedIn();
    const statusWith = async (headers: Record<string, string>) =>
      (await world.get('/v1/whoami', { headers })).status;
    expect(await statusWith(both)).toBe(200);
    expect(await statusWith({ cookie: both.cookie })).toBe(401);
    expect(await statusWith({ 'x-kaiwu-page': both['x-kaiwu-page'] })).toBe(401);
    expect(await statusWith({ cookie: both.cookie, 'x-kaiwu-page': 'x'.repeat(23) })).toBe(401);
    const other = await signedIn();
    expect(await statusWith({ cookie: both.cookie, 'x-kaiwu-page': other['x-kaiwu-page'] })).toBe(401);
  });

  it('may decide, is listed as a device, and ends with it', async () => {
    const headers = await signedIn();
    const call = (id: string, input: object) =>
      world.post(`/v1/actions/${id}`, { input, context: { surface: 'app' } }, { headers });
    const { output } = (await (await call('device.list', {})).json()) as {
      output: { devices: { deviceId: string; name: string; current: boolean }[] };
    };
    const own = output.devices.find(({ current }) => current)!;
    expect(own.name).toBe('Test browser');
    expect((await call('policy.set', { rules: {} })).status).toBe(200);
    await world.ok(token, 'device.revoke', { deviceId: own.deviceId });
    expect((await call('device.list', {})).status).toBe(401);
  });

  it('ends after thirty days, and when it is signed out', async () => {
    const headers = await signedIn();
    const out = await world.post('/v1/auth/logout', {}, { headers });
    expect(out.status).toBe(200);
    expect(out.headers.get('set-cookie')).toMatch(/^kaiwu_\d+=; Max-Age=0; Path=\/v1/);
    expect((await world.get('/v1/whoami', { headers })).status).toBe(401);
    const second = await signedIn();
    world.runtime.advance(31 * 86_400_000);
    expect((await world.get('/v1/whoami', { headers: second })).status).toBe(401);
  });

  it('by a code that a device approves, asked for with patience', async () => {
    const started = await world.post('/v1/auth/device/code', { device_name: 'Phone' });
    const code = (await started.json()) as { device_code: string; user_code: string };
    expect(await (await redeem(code.device_code)).json()).toEqual({ error: 'authorization_pending' });
    await world.ok(token, 'device.approve', { userCode: code.user_code });
    const answer = await redeem(code.device_code);
    expect(answer.status).toBe(200);
    expect(await answer.json()).not.toHaveProperty('access_token');
  });
});
