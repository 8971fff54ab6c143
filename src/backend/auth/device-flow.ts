import type { Runtime } from '../../core/ports/stores.ts';
import { createRateLimit } from '../rate-limit.ts';
import { newSecret, newUserCode, type RandomBytes, showUserCode } from '../secrets.ts';
import type { DeviceCode, DeviceCodeStore } from '../store/store.ts';
import type { SignIn } from './sign-in.ts';

/** Seconds that a code is good for, and between two polls of a device. */
const EXPIRES_IN_SECONDS = 900;
const INTERVAL_SECONDS = 5;

/** Seconds that a link to the app is good for. */
const LINK_SECONDS = 300;

/** In front of the user code of a link: nobody can type it, since codes have letters only. */
const LINK_MARK = 'link:';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Why a poll gave no token, by RFC 8628 and RFC 6749. */
export type DeviceFlowError =
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'access_denied'
  | 'invalid_grant'
  | 'unsupported_grant_type';

export type DeviceTokenAnswer =
  | { access_token: string; token_type: 'Bearer'; device_id: string; tokenId: string; sealed_key?: string }
  | { error: DeviceFlowError };

/** What becomes of an approved code: a device's token, or the sign-in of the app in a browser. */
export type RedeemAs = { kind: 'device' } | { kind: 'web'; name: string };

/** Device authorization grant (RFC 8628): the device shows a code, a signed-in person approves it. */
export interface DeviceFlow {
  /** @param recipient of age, that the device made for this sign-in: the account's key is sealed to it @throws rate_limited */
  start(
    deviceName: string,
    recipient?: string,
  ): Promise<{
    device_code: string;
    user_code: string;
    expires_in: number;
    interval: number;
  }>;
  poll(grantType: string, deviceCode: string, redeemAs?: RedeemAs): Promise<DeviceTokenAnswer>;
  /** A code that is approved already, for a browser alone. @param sealedKey the account's key, sealed to what the link carries */
  link(sealedKey?: string): Promise<{ key: string; expiresInSeconds: number }>;
}

export function createDeviceFlow(options: {
  codes: DeviceCodeStore;
  signIn: SignIn;
  runtime: Pick<Runtime, 'now' | 'sha256' | 'monotonicMs'>;
  randomBytes: RandomBytes;
}): DeviceFlow {
  const { codes, runtime, randomBytes } = options;
  const starts = createRateLimit({
    max: 30,
    perMs: 60_000,
    monotonicMs: runtime.monotonicMs,
    what: 'sign-ins begun',
  });

  async function freeUserCode(): Promise<string> {
    for (;;) {
      const code = newUserCode(randomBytes);
      if ((await codes.findByUserCode(code)) === undefined) return code;
    }
  }

  const isTooSoon = (code: DeviceCode): boolean =>
    code.polledAt !== undefined &&
    runtime.now().getTime() - Date.parse(code.polledAt) < INTERVAL_SECONDS * 1000;

  async function insert(
    code: Pick<DeviceCode, 'userCode' | 'deviceName' | 'status' | 'recipient' | 'sealedKey'>,
    seconds: number,
  ) {
    const secret = newSecret(randomBytes);
    const expiresAt = new Date(runtime.now().getTime() + seconds * 1000).toISOString();
    await codes.insert({ ...code, deviceCodeHash: runtime.sha256(secret), expiresAt });
    return secret;
  }

  return {
    async start(deviceName, recipient) {
      starts.check();
      starts.count();
      const userCode = await freeUserCode();
      const deviceCode = await insert(
        { userCode, deviceName, status: 'pending', ...(recipient === undefined ? {} : { recipient }) },
        EXPIRES_IN_SECONDS,
      );
      return {
        device_code: deviceCode,
        user_code: showUserCode(userCode),
        expires_in: EXPIRES_IN_SECONDS,
        interval: INTERVAL_SECONDS,
      };
    },

    async link(sealedKey) {
      const userCode = `${LINK_MARK}${newSecret(randomBytes)}`;
      const key = await insert(
        {
          userCode,
          deviceName: 'Browser',
          status: 'approved',
          ...(sealedKey === undefined ? {} : { sealedKey }),
        },
        LINK_SECONDS,
      );
      return { key, expiresInSeconds: LINK_SECONDS };
    },

    async poll(grantType, deviceCode, redeemAs = { kind: 'device' }) {
      if (grantType !== GRANT_TYPE) return { error: 'unsupported_grant_type' };
      const hash = runtime.sha256(deviceCode);
      const code = await codes.findByHash(hash);
      if (code === undefined || code.status === 'used') return { error: 'invalid_grant' };
      // A link opens the app; it makes no device.
      const isLink = code.userCode.startsWith(LINK_MARK);
      if (isLink && redeemAs.kind !== 'web') return { error: 'invalid_grant' };
      if (code.status === 'denied') return { error: 'access_denied' };
      if (Date.parse(code.expiresAt) <= runtime.now().getTime()) return { error: 'expired_token' };
      if (code.status === 'pending') {
        await codes.notePoll(hash);
        return { error: isTooSoon(code) ? 'slow_down' : 'authorization_pending' };
      }
      // Two polls at once: one gets the token.
      if (!(await codes.move(hash, 'approved', 'used'))) return { error: 'invalid_grant' };
      const name = redeemAs.kind === 'web' ? redeemAs.name : code.deviceName;
      const { token, tokenId, deviceId } = await options.signIn(name, redeemAs.kind);
      const sealed = code.sealedKey === undefined ? {} : { sealed_key: code.sealedKey };
      return { access_token: token, token_type: 'Bearer', device_id: deviceId, tokenId, ...sealed };
    },
  };
}
