import { Buffer } from 'node:buffer';
import { KaiwuError } from '../../core/errors.ts';
import type { PasskeyRefusal } from '../../core/passkey.ts';
import type { Passkey } from '../../core/ports/passkeys.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { createRateLimit } from '../rate-limit.ts';
import type { RandomBytes } from '../secrets.ts';
import type { ChallengePurpose, StoredPasskey } from '../store/passkeys.ts';
import type { BackendStore } from '../store/store.ts';
import { toPasskey } from './passkeys-port.ts';
import type { PasskeySite } from './passkeys-site.ts';
import {
  type Asserted,
  type Created,
  challengeOf,
  toCreationOptions,
  toRequestOptions,
  verifyAsserted,
  verifyCreated,
} from './passkeys-webauthn.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** Milliseconds that a challenge is good for. */
const CHALLENGE_MS = 5 * 60_000;

/** Most passkeys of an account that hold at one time. */
const MAX_PASSKEYS = 50;

/** Ceremonies of WebAuthn: each begins with a challenge that is good once and ends with what the browser answers to it. */
export interface Passkeys {
  /** @param tokenId who may finish what is begun here @throws rate_limited | conflict */
  beginAdd(site: PasskeySite, tokenId: string): Promise<object>;
  /** @throws invalid_input | conflict */
  add(
    site: PasskeySite,
    tokenId: string,
    given: { name: string; response: Created; sealedKey?: string },
  ): Promise<Passkey>;
  /** @throws rate_limited */
  beginSignIn(site: PasskeySite): Promise<object>;
  /**
   * @param onKnown hears which passkey it is, before its answer is judged
   * @throws not_authenticated | rate_limited
   */
  signIn(
    site: PasskeySite,
    given: { browser: string; response: Asserted },
    onKnown: (passkey: Passkey) => void,
  ): Promise<SignedIn & { sealedKey?: string }>;
}

export function createPasskeys(options: {
  store: Pick<BackendStore, 'passkeys' | 'identity'>;
  signIn: SignIn;
  runtime: Pick<Runtime, 'newId' | 'now' | 'sha256' | 'monotonicMs'>;
  randomBytes: RandomBytes;
  serverId: string;
}): Passkeys {
  const { runtime, randomBytes } = options;
  const { passkeys, identity } = options.store;
  const limit = (max: number, what: string) =>
    createRateLimit({ max, perMs: 60_000, monotonicMs: runtime.monotonicMs, what });
  const starts = limit(30, 'passkey ceremonies begun');
  const wrongTries = limit(10, 'passkey sign-ins refused');
  // The same for every passkey, so that an authenticator keeps one for each backend, and another backend's is told by it.
  const userId = Buffer.from(runtime.sha256(`passkeys of ${options.serverId}`), 'hex');

  const holding = async () =>
    (await passkeys.list()).filter(({ revokedAt }: StoredPasskey) => revokedAt === undefined);

  async function newChallenge(purpose: ChallengePurpose, tokenId = ''): Promise<Uint8Array<ArrayBuffer>> {
    starts.check();
    starts.count();
    const bytes = new Uint8Array(randomBytes(32));
    const hash = runtime.sha256(Buffer.from(bytes).toString('base64url'));
    const expiresAt = new Date(runtime.now().getTime() + CHALLENGE_MS).toISOString();
    await passkeys.insertChallenge({ hash, purpose, tokenId, expiresAt });
    return bytes;
  }

  /** The challenge that was answered, taken away before anything is judged: a second try needs another. */
  async function takeChallenge(clientData: string, purpose: ChallengePurpose, tokenId = ''): Promise<string> {
    const challenge = challengeOf(clientData);
    const found =
      challenge === undefined ? undefined : await passkeys.takeChallenge(runtime.sha256(challenge));
    const holds =
      found?.purpose === purpose &&
      found.tokenId === tokenId &&
      found.expiresAt > runtime.now().toISOString();
    if (challenge !== undefined && holds) return challenge;
    const code = purpose === 'add' ? 'conflict' : 'not_authenticated';
    throw refuse(code, 'challenge', 'It took too long, or has been used already', 'Begin again.');
  }

  async function check(
    site: PasskeySite,
    response: Asserted,
    onKnown: (passkey: Passkey) => void,
  ): Promise<{ passkey: StoredPasskey; counter: number }> {
    const challenge = await takeChallenge(response.response.clientDataJSON, 'sign_in');
    const { userHandle } = response.response;
    if (userHandle !== undefined && userHandle !== userId.toString('base64url')) {
      throw refuse(
        'not_authenticated',
        'other_backend',
        'This passkey belongs to another Kaiwu',
        'Choose another passkey, or sign in by a link or a code.',
      );
    }
    const passkey = await passkeys.find(response.id);
    if (passkey === undefined || passkey.revokedAt !== undefined) throw unknown();
    onKnown(toPasskey(passkey));
    const counter = await verifyAsserted(response, challenge, site, passkey);
    const counts = counter > 0 || passkey.counter > 0;
    if (!counts || counter > passkey.counter) return { passkey, counter };
    throw refuse(
      'not_authenticated',
      'counter',
      `The passkey counts ${counter} signatures and has counted ${passkey.counter} before`,
      'There may be a copy of it. Sign in by a link or a code, revoke it and add another.',
    );
  }

  return {
    async beginAdd(site, tokenId) {
      const known = await holding();
      if (known.length >= MAX_PASSKEYS) {
        throw refuse('conflict', 'too_many', `There are ${known.length} passkeys already`, 'Revoke some.');
      }
      const challenge = await newChallenge('add', tokenId);
      return toCreationOptions(site, {
        challenge,
        userId: new Uint8Array(userId),
        known: known.filter((passkey) => passkey.site === site.rpId),
      });
    },

    async add(site, tokenId, { name, response, sealedKey }) {
      const challenge = await takeChallenge(response.response.clientDataJSON, 'add', tokenId);
      const { id, publicKey, counter } = await verifyCreated(response, challenge, site);
      const passkeyId = runtime.newId('pk');
      const inserted = await passkeys.insert({
        passkeyId,
        credentialId: id,
        name,
        site: site.rpId,
        publicKey: Buffer.from(publicKey).toString('base64url'),
        counter,
        transports: response.response.transports ?? [],
        ...(sealedKey === undefined ? {} : { sealedKey }),
      });
      const added = inserted ? await passkeys.find(id) : undefined;
      if (added === undefined) throw refuse('conflict', 'already', 'This passkey has been added before', '');
      return toPasskey(added);
    },

    beginSignIn: async (site) => toRequestOptions(site, await newChallenge('sign_in')),

    async signIn(site, { browser, response }, onKnown) {
      wrongTries.check();
      const { passkey, counter } = await check(site, response, onKnown).catch((error: unknown) => {
        wrongTries.count();
        throw error;
      });
      const { passkeyId, sealedKey } = passkey;
      const signedIn = await options.signIn(browser, 'web', passkeyId);
      // Last: whoever revokes it from now on finds the sign-in, and whoever has revoked it before is found here.
      if (await passkeys.noteUse(passkeyId, { from: passkey.counter, to: counter })) {
        return { ...signedIn, ...(sealedKey === undefined ? {} : { sealedKey }) };
      }
      await identity.revokeDevice(signedIn.deviceId);
      throw unknown();
    },
  };
}

const refuse = (
  code: 'conflict' | 'not_authenticated',
  reason: PasskeyRefusal,
  message: string,
  hint: string,
) => new KaiwuError(code, `${message}.`, { ...(hint === '' ? {} : { hint }), details: { reason } });

const unknown = () =>
  refuse(
    'not_authenticated',
    'unknown',
    'This passkey is not known here, or was revoked',
    'Sign in by a link or a code. The browser or the password manager can forget it.',
  );
