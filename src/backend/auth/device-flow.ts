import type { Runtime } from '../../core/ports/stores.ts';
import { createRateLimit } from '../rate-limit.ts';
import { newSecret, newUserCode, type RandomBytes, showUserCode } from '../secrets.ts';
import type { DeviceCode, DeviceCodeStore } from '../store/store.ts';
import type { SignIn } from './sign-in.ts';

/** Seconds that a code is good for, and between two polls of a device. */
const EXPIRES_IN_SECONDS = 900;
const INTERVAL_SECONDS = 5;

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
  | { access_token: string; token_type: 'Bearer'; device_id: string; tokenId: string }
  | { error: DeviceFlowError };

/** Device authorization grant (RFC 8628): the device shows a code, a signed-in person approves it. */
export interface DeviceFlow {
  /** @throws rate_limited */
  start(deviceName: string): Promise<{
    device_code: string;
    user_code: string;
    expires_in: number;
    interval: number;
  }>;
  poll(grantType: string, deviceCode: string): Promise<DeviceTokenAnswer>;
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

  return {
    async start(deviceName) {
      starts.check();
      starts.count();
      const deviceCode = newSecret(randomBytes);
      const userCode = await freeUserCode();
      await codes.insert({
        deviceCodeHash: runtime.sha256(deviceCode),
        userCode,
        deviceName,
        expiresAt: new Date(runtime.now().getTime() + EXPIRES_IN_SECONDS * 1000).toISOString(),
        status: 'pending',
      });
      return {
        device_code: deviceCode,
        user_code: showUserCode(userCode),
        expires_in: EXPIRES_IN_SECONDS,
        interval: INTERVAL_SECONDS,
      };
    },

    async poll(grantType, deviceCode) {
      if (grantType !== GRANT_TYPE) return { error: 'unsupported_grant_type' };
      const hash = runtime.sha256(deviceCode);
      const code = await codes.findByHash(hash);
      if (code === undefined || code.status === 'used') return { error: 'invalid_grant' };
      if (code.status === 'denied') return { error: 'access_denied' };
      if (Date.parse(code.expiresAt) <= runtime.now().getTime()) return { error: 'expired_token' };
      if (code.status === 'pending') {
        await codes.notePoll(hash);
        return { error: isTooSoon(code) ? 'slow_down' : 'authorization_pending' };
      }
      // Two polls at once: one gets the token.
      if (!(await codes.move(hash, 'approved', 'used'))) return { error: 'invalid_grant' };
      const { token, tokenId, deviceId } = await options.signIn(code.deviceName);
      return { access_token: token, token_type: 'Bearer', device_id: deviceId, tokenId };
    },
  };
}
