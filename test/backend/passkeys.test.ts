import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from './helpers/authenticator.ts';
import { bodyOf, openPasskeys, PATHS, refusalOf, toHeaders } from './helpers/passkeys.ts';

let kit: Awaited<ReturnType<typeof openPasskeys>>;
beforeEach(async () => {
  kit = await openPasskeys();
});
afterEach(() => kit.world.end());

describe('a passkey', () => {
  it('is added in the app, listed, signs a browser in, and is renamed', async () => {
    const { authenticator, passkeyId } = await kit.newPasskey({ sealedKey: 'c2VhbGVk' });
    const facts = { passkeyId, name: 'Laptop', site: 'localhost', opensFiles: true };
    expect((await kit.call('passkey.list', {})).output.passkeys).toEqual([
      { ...facts, createdAt: expect.any(String) },
    ]);

    const answer = await kit.signIn(authenticator);
    expect(answer.headers.get('set-cookie')).toMatch(
      /; Max-Age=2592000; Path=\/v1; HttpOnly; SameSite=Strict$/,
    );
    const body = await bodyOf(Promise.resolve(answer));
    expect(body).toEqual({
      pageKey: expect.any(String),
      deviceId: expect.any(String),
      sealedKey: 'c2VhbGVk',
    });
    const headers = toHeaders(answer, body);
    expect(await bodyOf(kit.world.get('/v1/whoami', { headers }))).toMatchObject({ kind: 'web', scope: {} });
    const { devices } = (await kit.call('device.list', {}, headers)).output;
    expect(devices.find((device: { current: boolean }) => device.current)).toMatchObject({
      name: 'Test browser',
      passkeyId,
    });
    expect((await kit.call('passkey.rename', { passkeyId, name: 'Blue key' }, headers)).output).toMatchObject(
      {
        ...facts,
        name: 'Blue key',
        lastUsedAt: expect.any(String),
      },
    );
    expect(await kit.rowsOf('auth.passkey_add')).toMatchObject([
      { surface: 'app', outcome: 'ok', input: { passkeyId, name: 'Laptop', site: 'localhost' } },
    ]);
    expect(await kit.rowsOf('auth.passkey_sign_in')).toMatchObject([
      { surface: 'app', outcome: 'ok', deviceId: body.deviceId },
    ]);
  });

  it('once revoked, signs nobody in, and whom it signed in is out', async () => {
    const { authenticator, passkeyId } = await kit.newPasskey({ sealedKey: 'c2VhbGVk' });
    const other = await kit.newPasskey();
    const [first, second, apart] = await Promise.all(
      [authenticator, authenticator, other.authenticator].map(async (each) => {
        const answer = await kit.signIn(each);
        return toHeaders(answer, await bodyOf(answer));
      }),
    );
    const stream = await fetch(`${kit.world.url}/v1/events`, { headers: first! });
    expect(stream.status).toBe(200);
    expect((await kit.call('passkey.revoke', { passkeyId })).output).toMatchObject({
      passkeyId,
      signedOut: 2,
      opensFiles: false,
    });
    expect(await Promise.all([first!, second!, apart!, kit.web].map(kit.whoami))).toEqual([
      401, 401, 200, 200,
    ]);
    // The open stream ends with the sign-in.
    for await (const _chunk of stream.body!);
    expect(await refusalOf(kit.signIn(authenticator))).toEqual(['not_authenticated', 'unknown']);
    expect((await kit.call('passkey.revoke', { passkeyId })).output).toMatchObject({ signedOut: 0 });
    expect((await kit.call('passkey.rename', { passkeyId, name: 'x' })).error.code).toBe('not_found');
    expect((await kit.call('passkey.revoke', { passkeyId: 'pk_none' })).error.code).toBe('not_found');
  });

  it('that is revoked while its sign-in is under way signs nobody in', async () => {
    const { authenticator, passkeyId } = await kit.newPasskey();
    const { store } = kit.world;
    const { insertToken } = store.identity;
    // Between the check of the signature and the end of the sign-in.
    store.identity.insertToken = async (token) => {
      const inserted = await insertToken(token);
      await store.passkeys.revoke(passkeyId);
      return inserted;
    };
    expect(await refusalOf(kit.signIn(authenticator))).toEqual(['not_authenticated', 'unknown']);
    const live = (await store.identity.listDevices()).filter((device) => device.passkeyId === passkeyId);
    expect(live.map(({ revokedAt }) => revokedAt === undefined)).toEqual([false]);
  });

  it('goes on after a restart of the backend, also on another port', async () => {
    const { authenticator } = await kit.newPasskey();
    await kit.restart();
    const answer = await kit.signIn(authenticator, { origin: kit.origin });
    expect(answer.status).toBe(200);
  });

  it('is known by the backend without anything that could sign', async () => {
    const { authenticator } = await kit.newPasskey({ sealedKey: 'c2VhbGVk' });
    const told = await kit.call('passkey.list', {});
    expect(JSON.stringify(told)).not.toMatch(/c2VhbGVk|publicKey|counter/);
    expect(JSON.stringify(told)).not.toContain(authenticator.credentialId);
    const options = await bodyOf(kit.post(PATHS.signInOptions, {}));
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(options.allowCredentials ?? []).toEqual([]);
  });
});

describe('who may add one', () => {
  const refused = ['permission_escalation_denied', undefined];

  it('a person in the app alone', async () => {
    const { token } = await kit.world.signIn('Another');
    const tokens = [
      token,
      await kit.world.makeToken({ kind: 'api' }),
      await kit.world.makeToken({ kind: 'agent', scope: { sessionId: 'sess_1' } }),
      await kit.world.makeToken({ kind: 'web', scope: { surfaces: ['app'], actions: ['session.*'] } }),
    ];
    for (const each of tokens) {
      const headers = { authorization: `Bearer ${each}` };
      expect(await refusalOf(kit.post(PATHS.addOptions, {}, headers))).toEqual(refused);
      const response = kit.authenticator().create(await bodyOf(kit.post(PATHS.addOptions, {}, kit.web)));
      expect(await refusalOf(kit.post(PATHS.add, { name: 'x', response }, headers))).toEqual(refused);
    }
    expect((await kit.post(PATHS.addOptions, {})).status).toBe(401);
    expect(await kit.world.store.passkeys.list()).toEqual([]);
  });

  it("no agent's process, and none signs in", async () => {
    const { authenticator } = await kit.newPasskey();
    const options = await bodyOf(kit.post(PATHS.addOptions, {}, kit.web));
    const begun = await bodyOf(kit.post(PATHS.signInOptions, {}));
    await kit.restart({ agentSessionBehind: () => 'sess_a' });
    const response = kit.authenticator().create(options);
    // The cookie's name goes by the port.
    const bearer = await kit.world.makeToken({ kind: 'web' });
    const headers = { authorization: `Bearer ${bearer}` };
    expect(await refusalOf(kit.post(PATHS.addOptions, {}, headers))).toEqual(refused);
    expect(await refusalOf(kit.post(PATHS.add, { name: 'x', response }, headers))).toEqual(refused);
    expect(await refusalOf(kit.post(PATHS.signInOptions, {}))).toEqual(refused);
    const answered = authenticator.get(begun, { origin: kit.origin });
    expect(await refusalOf(kit.post(PATHS.signIn, { response: answered }))).toEqual(refused);
    expect(await kit.world.store.passkeys.list()).toHaveLength(1);
    expect(await kit.rowsOf('auth.passkey_add')).toMatchObject([
      { sessionId: 'sess_a', outcome: 'error' },
      { sessionId: 'sess_a', outcome: 'error' },
      { outcome: 'ok' },
    ]);
  });

  it('only who began it', async () => {
    const options = await bodyOf(kit.post(PATHS.addOptions, {}, kit.web));
    const response = kit.authenticator().create(options);
    expect(await refusalOf(kit.post(PATHS.add, { name: 'x', response }, await kit.openApp()))).toEqual([
      'conflict',
      'challenge',
    ]);
    expect(await refusalOf(kit.post(PATHS.add, { name: 'x', response }, kit.web))).toEqual([
      'conflict',
      'challenge',
    ]);
  });

  it('only on a page that has a name', async () => {
    const byAddress = `http://127.0.0.1:${kit.world.port}`;
    const atAddress = (path: string, headers = {}) =>
      fetch(byAddress + path, { method: 'POST', body: '{}', headers: { origin: byAddress, ...headers } });
    expect(await refusalOf(atAddress(PATHS.addOptions, kit.web))).toEqual(['unsupported', 'address']);
    expect(await refusalOf(atAddress(PATHS.signInOptions))).toEqual(['unsupported', 'address']);
    expect(
      await refusalOf(kit.post(PATHS.addOptions, {}, { ...kit.web, origin: 'http://evil.example' })),
    ).toEqual(['forbidden', undefined]);
    expect(await refusalOf(kit.world.post(PATHS.signInOptions, {}))).toEqual(['forbidden', undefined]);
  });
});

describe('what is added', () => {
  it.each<[string, Faults]>([
    ['made on another page', { origin: 'https://evil.example' }],
    ['made for another name', { rpId: 'evil.example' }],
    ['made without the person being verified', { verified: false }],
    ['of another ceremony', { type: 'webauthn.get' }],
  ])('is not one %s', async (_what, faults) => {
    expect(await refusalOf(kit.add(kit.authenticator(), {}, faults))).toEqual(['invalid_input', 'not_valid']);
    expect(await kit.world.store.passkeys.list()).toEqual([]);
  });

  it('is not one with certificates, whose lists of revoked ones would be fetched', async () => {
    const options = await bodyOf(kit.post(PATHS.addOptions, {}, kit.web));
    const attStmt = new Map<string, unknown>([['x5c', [new Uint8Array([1])]]]);
    const response = kit.authenticator().create(options, {}, { fmt: 'packed', attStmt });
    const { error } = await bodyOf(kit.post(PATHS.add, { name: 'x', response }, kit.web));
    expect(error).toMatchObject({ code: 'invalid_input', details: { reason: 'not_valid' } });
    // Before the library looks at it.
    expect(error.message).toContain('none was asked for');
  });

  it('is named, bounded, and no passkey that is there already', async () => {
    const { authenticator } = await kit.newPasskey();
    const options = await bodyOf(kit.post(PATHS.addOptions, {}, kit.web));
    expect(options.excludeCredentials).toMatchObject([{ id: authenticator.credentialId }]);
    expect(options.authenticatorSelection).toMatchObject({
      residentKey: 'required',
      userVerification: 'required',
    });
    const again = authenticator.create(options);
    expect(await refusalOf(kit.post(PATHS.add, { name: 'x', response: again }, kit.web))).toEqual([
      'conflict',
      'already',
    ]);
    const wrong = [
      { name: ' ' },
      { name: 'x'.repeat(61) },
      { sealedKey: 'x'.repeat(5000) },
      { response: { id: 'x' } },
    ];
    for (const more of wrong) {
      expect(await refusalOf(kit.add(kit.authenticator(), more))).toEqual(['invalid_input', undefined]);
    }
    expect(await kit.world.store.passkeys.list()).toHaveLength(1);
  });

  it('keeps no more challenges than it must', async () => {
    const { passkeys } = kit.world.store;
    const expiresAt = (i: number) => new Date(kit.world.runtime.now().getTime() + 60_000 + i).toISOString();
    for (let i = 0; i < 210; i++) {
      await passkeys.insertChallenge({
        hash: `hash ${i}`,
        purpose: 'sign_in',
        tokenId: '',
        expiresAt: expiresAt(i),
      });
    }
    expect(await passkeys.takeChallenge('hash 9')).toBeUndefined();
    expect(await passkeys.takeChallenge('hash 10')).toBeDefined();
    expect(await passkeys.takeChallenge('hash 10')).toBeUndefined();
    kit.world.runtime.advance(120_000);
    await passkeys.insertChallenge({ hash: 'new', purpose: 'add', tokenId: 't', expiresAt: expiresAt(0) });
    expect(await passkeys.takeChallenge('hash 100')).toBeUndefined();
  });
});
