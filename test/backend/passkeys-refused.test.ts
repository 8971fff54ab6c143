import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Faults } from './helpers/authenticator.ts';
import { bodyOf, openPasskeys, PATHS, refusalOf } from './helpers/passkeys.ts';

let kit: Awaited<ReturnType<typeof openPasskeys>>;
beforeEach(async () => {
  kit = await openPasskeys();
});
afterEach(() => kit.world.end());

describe('what does not sign in', () => {
  it.each<[string, Faults, string]>([
    ['made on a page of another origin', { origin: 'http://localhost:1' }, 'not_valid'],
    ['made on a page of another name', { origin: 'https://evil.example', rpId: 'evil.example' }, 'not_valid'],
    ['made without the person being verified', { verified: false }, 'not_valid'],
    ['changed after it was signed', { tamper: true }, 'not_valid'],
    ['signed for another purpose', { type: 'webauthn.create' }, 'not_valid'],
    ['of another backend', { userHandle: 'b3RoZXI' }, 'other_backend'],
  ])('an answer %s', async (_what, faults, reason) => {
    const { authenticator } = await kit.newPasskey();
    expect(await refusalOf(kit.signIn(authenticator, faults))).toEqual(['not_authenticated', reason]);
    expect((await kit.signIn(authenticator)).status).toBe(200);
  });

  it('an answer of a passkey that is not known', async () => {
    const { authenticator } = await kit.newPasskey();
    const options = await bodyOf(kit.post(PATHS.signInOptions, {}));
    const stranger = kit.authenticator();
    const forged = { ...stranger.get(options), id: authenticator.credentialId };
    expect(await refusalOf(kit.post(PATHS.signIn, { response: forged }))).toEqual([
      'invalid_input',
      undefined,
    ]);
    const unknown = await bodyOf(kit.post(PATHS.signInOptions, {}));
    const { response, ...rest } = stranger.get(unknown);
    const { userHandle: _none, ...answered } = response;
    expect(await refusalOf(kit.post(PATHS.signIn, { response: { ...rest, response: answered } }))).toEqual([
      'not_authenticated',
      'unknown',
    ]);
  });

  it('an answer that is sent again, or to a challenge that was never given, too old, or for another purpose', async () => {
    const { authenticator } = await kit.newPasskey();
    const refused = ['not_authenticated', 'challenge'];
    const options = await bodyOf(kit.post(PATHS.signInOptions, {}));
    const response = authenticator.get(options);
    const both = await Promise.all([
      kit.post(PATHS.signIn, { response }),
      kit.post(PATHS.signIn, { response }),
    ]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect(await refusalOf(kit.post(PATHS.signIn, { response }))).toEqual(refused);

    const made = authenticator.get({ ...options, challenge: 'x'.repeat(43) });
    expect(await refusalOf(kit.post(PATHS.signIn, { response: made }))).toEqual(refused);

    const adding = await bodyOf(kit.post(PATHS.addOptions, {}, kit.web));
    const crossed = authenticator.get({ challenge: adding.challenge, rpId: 'localhost' });
    expect(await refusalOf(kit.post(PATHS.signIn, { response: crossed }))).toEqual(refused);

    const late = authenticator.get(await bodyOf(kit.post(PATHS.signInOptions, {})));
    kit.world.runtime.advance(301_000);
    expect(await refusalOf(kit.post(PATHS.signIn, { response: late }))).toEqual(refused);
  });

  it('an authenticator that counts less than before, as a copy would', async () => {
    const { authenticator, passkeyId } = await kit.newPasskey();
    authenticator.countFrom(7);
    expect((await kit.signIn(authenticator)).status).toBe(200);
    for (const counter of [8, 3, 0]) {
      expect(await refusalOf(kit.signIn(authenticator, { counter }))).toEqual([
        'not_authenticated',
        'counter',
      ]);
    }
    expect(await kit.rowsOf('auth.passkey_sign_in')).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ outcome: 'error', input: { passkeyId } })),
      { outcome: 'ok' },
    ]);
    expect((await kit.signIn(authenticator)).status).toBe(200);
  });

  it('too many, wrong or begun', async () => {
    const { authenticator } = await kit.newPasskey();
    for (let i = 0; i < 10; i++) await kit.signIn(authenticator, { tamper: true });
    const answer = await kit.signIn(authenticator);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const begun = await Promise.all(Array.from({ length: 25 }, () => kit.post(PATHS.signInOptions, {})));
    expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([200, 429]));
    kit.world.runtime.advance(60_000);
    expect((await kit.signIn(authenticator)).status).toBe(200);
  });
});
