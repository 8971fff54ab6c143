import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UNKNOWN_PROCESS } from '../../src/core/agent-mark.ts';
import type { TcpConnection } from '../../src/core/loopback.ts';
import { errorOf, openWorld, type World } from './helpers/world.ts';
import type { Json } from './helpers/json.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.end());

describe('tokens', () => {
  const whoami = async (token?: string) => {
    const answer = await world.get('/v1/whoami', { token });
    return { status: answer.status, body: (await answer.json()) as Json, headers: answer.headers };
  };

  it('a missing, malformed or unknown one is not authenticated', async () => {
    for (const headers of [
      undefined,
      { authorization: 'Basic abc' },
      { authorization: 'Bearer kw_unknown' },
    ]) {
      const answer = await world.get('/v1/whoami', { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      const body = (await answer.json()) as Json;
      expect(body).toMatchObject({ status: 'error', error: { code: 'not_authenticated', retryable: false } });
    }
    const call = await world.post('/v1/actions/session.list', { context: { surface: 'cli' } });
    expect(call.status).toBe(401);
  });

  it('whoami tells what a token is good for', async () => {
    const { token, deviceId, tokenId } = await world.signIn();
    expect((await whoami(token)).body).toEqual({
      serverId: 'server-under-test',
      backendVersion: '1.2.3',
      tokenId,
      kind: 'device',
      deviceId,
      scope: {},
      surfaces: ['app', 'cli', 'mcp', 'agent', 'voice'],
    });
  });

  it('a revoked or expired one is refused, saying which', async () => {
    const { token } = await world.signIn();
    const soon = new Date(world.runtime.now().getTime() + 60_000).toISOString();
    const made = await world.ok(token, 'token.create', { name: 'short', expiresInDays: 1 });
    const lasts = Date.parse(String(made.expiresAt)) - world.runtime.now().getTime();
    expect(Math.round(lasts / 60_000)).toBe(24 * 60);
    const expiring = await world.makeToken({ expiresAt: soon });
    expect((await whoami(expiring)).status).toBe(200);
    world.runtime.advance(61_000);
    expect((await whoami(expiring)).body.error.message).toContain('expired');
    expect((await whoami(made.token)).status).toBe(200);
    await world.ok(token, 'token.revoke', { tokenId: made.tokenId });
    const refused = await whoami(made.token);
    expect(refused.status).toBe(401);
    expect(refused.body.error.message).toContain('revoked');
  });

  it('a scope holds: surfaces, actions, catalog', async () => {
    const token = await world.makeToken({ scope: { surfaces: ['mcp'], actions: ['session.list'] } });
    expect(errorOf(await world.call(token, 'session.list')).code).toBe('forbidden');
    expect((await world.call(token, 'session.list', {}, { surface: 'mcp' })).status).toBe('ok');
    const other = errorOf(await world.call(token, 'policy.get', {}, { surface: 'mcp' }));
    expect(other.code).toBe('action_disabled');
    expect(other.details?.reason).toBe('outside_token_scope');
    expect((await world.get('/v1/catalog?surface=cli', { token })).status).toBe(403);
    expect((await world.get('/v1/catalog?surface=mcp', { token })).status).toBe(200);
    const none = errorOf(await world.call(token, 'session.list', {}, { surface: undefined }));
    expect(none.code).toBe('forbidden');
  });

  it('a limited token makes no token and lets no device in', async () => {
    const limited = await world.makeToken({ scope: {} });
    const made = errorOf(await world.call(limited, 'token.create', { name: 'more' }));
    expect(made.code).toBe('permission_escalation_denied');
    const code = (await (await world.post('/v1/auth/device/code', { device_name: 'x' })).json()) as Json;
    const approved = errorOf(await world.call(limited, 'device.approve', { userCode: code.user_code }));
    expect(approved.code).toBe('permission_escalation_denied');
  });

  it('logout revokes the token and its device', async () => {
    const { token, deviceId } = await world.signIn();
    expect((await world.post('/v1/auth/logout', {}, { token })).status).toBe(200);
    expect((await whoami(token)).status).toBe(401);
    const { token: other } = await world.signIn('second');
    const { devices } = await world.ok(other, 'device.list');
    expect(devices.find((device: Json) => device.deviceId === deviceId).revokedAt).toBeDefined();
  });

  it('no secret is in the log', async () => {
    const { token } = await world.signIn();
    const made = await world.ok(token, 'token.create', { name: 'canary' });
    await whoami(made.token);
    await world.post('/v1/auth/bootstrap', { secret: 'wrong-canary-secret', deviceName: 'x' });
    await world.post('/v1/actions/session.list', '{"input": {"secret": "canary-in-bad-json"', { token });
    const log = world.logs.join('\n');
    expect(log).toContain('request');
    for (const secret of [token, made.token, 'wrong-canary', 'canary-in', ...world.secrets]) {
      expect(log).not.toContain(secret.slice(0, 11));
    }
  });
});

describe("an agent's process", () => {
  const audited = async (filter: Parameters<World['store']['audit']['list']>[0] = {}) =>
    (await world.store.audit.list({ order: 'oldest', ...filter }, { limit: 50 })).items;

  it('signs nobody in or out and opens no link; each attempt is in the audit', async () => {
    const { token, tokenId, deviceId } = await world.signIn();
    await world.restart({ agentSessionBehind: () => 'sess_a' });
    const secret = world.secrets.at(-1);
    const tries = [
      await world.post('/v1/auth/bootstrap', { secret, deviceName: 'mine' }),
      await world.post('/v1/auth/logout', {}, { token }),
    ];
    for (const answer of tries) {
      expect(answer.status).toBe(403);
      expect(((await answer.json()) as Json).error).toMatchObject({
        code: 'permission_escalation_denied',
        details: { sessionId: 'sess_a' },
      });
    }
    await expect(world.daemon(token)).rejects.toThrow('403');
    const code = 'permission_escalation_denied';
    const row = { surface: 'cli', outcome: 'error', sessionId: 'sess_a', code };
    expect(await audited({ code })).toMatchObject([
      { ...row, actionId: 'auth.bootstrap', tokenId: '' },
      { ...row, actionId: 'auth.logout', tokenId, deviceId },
      { ...row, actionId: 'auth.link', tokenId, deviceId },
    ]);
    await world.restart({ agentSessionBehind: () => undefined });
    expect((await world.get('/v1/whoami', { token })).status).toBe(200);
  });

  it('and one that has hidden which process it is changes nothing, but reads', async () => {
    const { token } = await world.signIn();
    await world.restart({ agentSessionBehind: () => UNKNOWN_PROCESS });
    const error = errorOf(
      await world.call(token, 'policy.set', { path: 'session.archive.mcp', value: 'ask' }),
    );
    expect(error).toMatchObject({ code: 'permission_escalation_denied' });
    expect((await world.call(token, 'policy.get')).status).toBe('ok');
    const logout = await world.post('/v1/auth/logout', {}, { token });
    expect(((await logout.json()) as Json).error.message).toContain('unknown process');
  });

  it('the looked-up connection is that of the caller, at both ends', async () => {
    const { token } = await world.signIn();
    const asked: TcpConnection[] = [];
    await world.restart({ agentSessionBehind: (connection) => void asked.push(connection) });
    await world.post('/v1/auth/logout', {}, { token });
    expect(asked).toEqual([
      {
        server: { address: '127.0.0.1', port: world.port },
        peer: { address: '127.0.0.1', port: expect.any(Number) },
      },
    ]);
  });

  it('the connection is known also when it was cut off before the look', async () => {
    const { token } = await world.signIn();
    const asked: TcpConnection[] = [];
    await world.restart({ agentSessionBehind: (connection) => (asked.push(connection), UNKNOWN_PROCESS) });
    const { findToken } = world.store.identity;
    const socket = connect(world.port, '127.0.0.1');
    const cutOff = new Promise<void>((resolve) => {
      // The look comes after the token: by then the socket has been reset.
      world.store.identity.findToken = async (hash) => {
        socket.resetAndDestroy();
        await delay(200);
        resolve();
        return findToken(hash);
      };
    });
    const head = [
      'POST /v1/auth/logout HTTP/1.1',
      `host: 127.0.0.1:${world.port}`,
      `authorization: Bearer ${token}`,
    ];
    socket.write(`${head.join('\r\n')}\r\ncontent-length: 0\r\n\r\n`);
    await cutOff;
    world.store.identity.findToken = findToken;
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(1);
    expect(asked[0]?.peer).toEqual({ address: '127.0.0.1', port: expect.any(Number) });
    expect((await world.get('/v1/whoami', { token })).status).toBe(200);
  });

  it('sign-ins and sign-outs of people are in the audit, without secrets', async () => {
    const { token, tokenId, deviceId } = await world.signIn('laptop');
    const start = (await (await world.post('/v1/auth/device/code', { device_name: 'phone' })).json()) as Json;
    await world.ok(token, 'device.approve', { userCode: start.user_code });
    const poll = { grant_type: GRANT, device_code: start.device_code };
    const answer = (await (await world.post('/v1/auth/device/token', poll)).json()) as Json;
    expect(Object.keys(answer).toSorted()).toEqual(['access_token', 'device_id', 'token_type']);
    await world.post('/v1/auth/logout', {}, { token });
    const rows = (await audited()).filter(({ actionId }) => actionId.startsWith('auth.'));
    expect(rows).toMatchObject([
      { actionId: 'auth.bootstrap', outcome: 'ok', tokenId, deviceId, input: { deviceName: 'laptop' } },
      { actionId: 'auth.device_token', outcome: 'ok', deviceId: answer.device_id },
      { actionId: 'auth.logout', outcome: 'ok', tokenId, deviceId },
    ]);
    const text = JSON.stringify(rows);
    for (const hidden of [token, answer.access_token, start.device_code, world.secrets[0]!]) {
      expect(text).not.toContain(hidden);
    }
    expect((await world.store.audit.verify()).fault).toBeUndefined();
  });
});

describe('bootstrap', () => {
  const redeem = (secret: string | undefined) =>
    world.post('/v1/auth/bootstrap', { secret, deviceName: 'laptop' });

  it('a secret is good once, also for two at the same moment, and is replaced', async () => {
    const [secret] = world.secrets;
    const { insertDevice } = world.store.identity;
    world.store.identity.insertDevice = async (device) => {
      await delay(100);
      return insertDevice(device);
    };
    const statuses = (await Promise.all([redeem(secret), redeem(secret)])).map((answer) => answer.status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect(world.secrets).toHaveLength(2);
    expect((await redeem(secret)).status).toBe(401);
    expect((await redeem(world.secrets[1])).status).toBe(200);
  });

  it('after ten wrong tries in a minute even the right one waits', async () => {
    for (let i = 0; i < 10; i++) expect((await redeem(`wrong ${i}`)).status).toBe(401);
    const refused = await redeem(world.secrets[0]);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(((await refused.json()) as Json).error.code).toBe('rate_limited');
    world.runtime.advance(61_000);
    expect((await redeem(world.secrets[0])).status).toBe(200);
  });
});

describe('device authorization grant', () => {
  const begin = async () =>
    (await (await world.post('/v1/auth/device/code', { device_name: 'phone' })).json()) as Json;
  const poll = async (code: string, grant = GRANT) => {
    const answer = await world.post('/v1/auth/device/token', { grant_type: grant, device_code: code });
    return { status: answer.status, body: (await answer.json()) as Json };
  };

  it('code, approval by a person, token', async () => {
    const { token } = await world.signIn();
    const code = await begin();
    expect(code).toMatchObject({ expires_in: 900, interval: 5, verification_uri: `${world.url}/devices` });
    expect(code.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await poll(code.device_code)).toEqual({ status: 400, body: { error: 'authorization_pending' } });
    expect((await poll(code.device_code)).body).toEqual({ error: 'slow_down' });
    world.runtime.advance(5000);
    expect((await poll(code.device_code)).body).toEqual({ error: 'authorization_pending' });

    const typed = code.user_code.toLowerCase().replace('-', ' ');
    expect(await world.ok(token, 'device.approve', { userCode: typed })).toEqual({ deviceName: 'phone' });
    expect(errorOf(await world.call(token, 'device.approve', { userCode: typed })).code).toBe('conflict');

    const both = await Promise.all([poll(code.device_code), poll(code.device_code)]);
    const granted = both.filter((answer) => answer.status === 200);
    expect(granted).toHaveLength(1);
    const { access_token, device_id, token_type } = (granted[0] as Json).body;
    expect(token_type).toBe('Bearer');
    const me = (await (await world.get('/v1/whoami', { token: access_token })).json()) as Json;
    expect(me).toMatchObject({ kind: 'device', deviceId: device_id });
    expect((await poll(code.device_code)).body).toEqual({ error: 'invalid_grant' });
  });

  it('expires', async () => {
    const { token } = await world.signIn();
    const code = await begin();
    world.runtime.advance(901_000);
    expect((await poll(code.device_code)).body).toEqual({ error: 'expired_token' });
    const late = errorOf(await world.call(token, 'device.approve', { userCode: code.user_code }));
    expect(late.code).toBe('not_found');
  });

  it('can be denied', async () => {
    const code = await begin();
    await world.store.deviceCodes.move(world.runtime.sha256(code.device_code), 'pending', 'denied');
    expect((await poll(code.device_code)).body).toEqual({ error: 'access_denied' });
  });

  it('other grants and unknown codes are refused in its own words', async () => {
    const code = await begin();
    expect((await poll(code.device_code, 'password')).body).toEqual({ error: 'unsupported_grant_type' });
    expect((await poll('nonsense')).body).toEqual({ error: 'invalid_grant' });
    const { token } = await world.signIn();
    const unknown = errorOf(await world.call(token, 'device.approve', { userCode: 'BBBB-BBBB' }));
    expect(unknown.code).toBe('not_found');
  });
});
