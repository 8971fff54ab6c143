import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import { createHttp, expectOk, type HttpAnswer, type HttpOptions } from './http.ts';
import { notABackend } from './http-errors.ts';

const signedInSchema = z.looseObject({
  token: z.string(),
  deviceId: z.string(),
  serverId: z.string(),
});
export type SignedIn = z.output<typeof signedInSchema>;

const deviceCodeSchema = z.looseObject({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  expires_in: z.number(),
  interval: z.number(),
});
export type DeviceCodeAnswer = z.output<typeof deviceCodeSchema>;

const whoamiSchema = z.looseObject({
  serverId: z.string(),
  backendVersion: z.string(),
  tokenId: z.string(),
  kind: z.string(),
  deviceId: z.string().optional(),
});
export type Whoami = z.output<typeof whoamiSchema>;

/** A program of this machine opens it: a file or a program that a backend names must never get there. */
const appLinkSchema = z.looseObject({ url: z.url({ protocol: /^https?$/ }), expiresInSeconds: z.number() });
export type AppLink = z.output<typeof appLinkSchema>;

export type DevicePoll =
  | { state: 'pending' | 'slow_down' | 'expired' | 'denied' }
  | { state: 'approved'; token: string; deviceId: string; sealedKey?: string };

/** Signing in and out. Every call @throws backend_unreachable | timeout | canceled beside what it names. */
export interface AuthClient {
  readonly url: string;
  /** Exchanges a one-time secret for a device token. @throws not_authenticated | rate_limited */
  bootstrap(secret: string, deviceName: string, signal?: AbortSignal): Promise<SignedIn>;
  /** RFC 8628: asks for a code that a signed-in person approves. The account's key comes sealed to `recipient`. */
  requestCode(deviceName: string, signal?: AbortSignal, recipient?: string): Promise<DeviceCodeAnswer>;
  /** RFC 8628: asks whether it was approved. */
  pollCode(deviceCode: string, signal?: AbortSignal): Promise<DevicePoll>;
  /** Link that opens the app signed in, good once. @throws not_authenticated | permission_escalation_denied */
  appLink(sealedKey?: string, signal?: AbortSignal): Promise<AppLink>;
  /** Revokes the client's own token. @throws not_authenticated */
  logout(signal?: AbortSignal): Promise<void>;
  /** @throws not_authenticated */
  whoami(signal?: AbortSignal): Promise<Whoami>;
  /** Whether a backend answers there and its store is ready. */
  ready(signal?: AbortSignal): Promise<boolean>;
}

const TIMEOUT_MS = 15_000;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const POLL_STATES: Record<string, Exclude<DevicePoll['state'], 'approved'>> = {
  authorization_pending: 'pending',
  slow_down: 'slow_down',
  expired_token: 'expired',
  access_denied: 'denied',
};

export function createAuthClient(options: HttpOptions): AuthClient {
  const http = createHttp(options);
  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    http.send({ method: 'POST', path, body, signal, timeoutMs: TIMEOUT_MS });
  const get = (path: string, signal?: AbortSignal) =>
    http.send({ method: 'GET', path, signal, timeoutMs: TIMEOUT_MS });
  const read = <S extends z.ZodType>(answer: HttpAnswer, schema: S): z.output<S> => {
    const parsed = schema.safeParse(expectOk(http, answer));
    if (!parsed.success) throw notABackend(http.url, answer.status, 'JSON of another kind');
    return parsed.data;
  };

  return {
    url: http.url,
    async bootstrap(secret, deviceName, signal) {
      return read(await post('/v1/auth/bootstrap', { secret, deviceName }, signal), signedInSchema);
    },
    async requestCode(deviceName, signal, recipient) {
      return read(
        await post('/v1/auth/device/code', { device_name: deviceName, recipient }, signal),
        deviceCodeSchema,
      );
    },
    async pollCode(deviceCode, signal) {
      const body = { grant_type: DEVICE_GRANT, device_code: deviceCode };
      const answer = await post('/v1/auth/device/token', body, signal);
      const error = (answer.json as { error?: unknown } | undefined)?.error;
      const state = typeof error === 'string' ? POLL_STATES[error] : undefined;
      if (state !== undefined) return { state };
      const granted = expectOk(http, answer);
      const { access_token: token, device_id: deviceId, sealed_key: sealedKey } = granted;
      if (typeof token !== 'string' || typeof deviceId !== 'string') {
        throw new KaiwuError('backend_unreachable', `The backend at ${http.url} answered without a token.`);
      }
      return { state: 'approved', token, deviceId, ...(typeof sealedKey === 'string' ? { sealedKey } : {}) };
    },
    async appLink(sealedKey, signal) {
      return read(await post('/v1/auth/app-link', { sealedKey }, signal), appLinkSchema);
    },
    async logout(signal) {
      const answer = await post('/v1/auth/logout', {}, signal);
      if (answer.status >= 400) expectOk(http, answer);
    },
    async whoami(signal) {
      return read(await get('/v1/whoami', signal), whoamiSchema);
    },
    async ready(signal) {
      return (await get('/readyz', signal)).status === 200;
    },
  };
}
