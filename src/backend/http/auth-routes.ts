import type { Hono } from 'hono';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { SURFACES } from '../../core/spec.ts';
import type { Bootstrap } from '../auth/bootstrap.ts';
import type { DeviceFlow } from '../auth/device-flow.ts';
import type { Revocations } from '../revocations.ts';
import type { IdentityStore } from '../store/store.ts';
import type { Authenticate } from './authenticate.ts';
import { MAX_SIGN_IN_BYTES, readChecked } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';

const name = z.string().trim().min(1).max(100);
const secret = z.string().min(1).max(200);
const bootstrapSchema = z.object({ secret, deviceName: name });
const codeSchema = z.object({ device_name: name });
const tokenSchema = z.object({ grant_type: z.string().max(200), device_code: secret });

/** Signing in and out, and who one is. */
export function addAuthRoutes(
  app: Hono<HttpEnv>,
  options: {
    bootstrap: Bootstrap | undefined;
    deviceFlow: DeviceFlow;
    identity: Pick<IdentityStore, 'revokeDevice' | 'revokeToken'>;
    revocations: Revocations;
    authenticate: Authenticate;
    gate: Gate;
    serverId: string;
    version: string;
    /** Address that others reach this server by; undefined: the one that the request names. */
    publicUrl: string | undefined;
  },
): void {
  const { bootstrap, deviceFlow, identity, revocations, authenticate, gate, serverId } = options;

  app.post('/v1/auth/bootstrap', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, bootstrapSchema, MAX_SIGN_IN_BYTES);
    if (bootstrap === undefined) {
      throw new KaiwuError('unsupported', 'This backend has no bootstrap secret.', {
        hint: 'Sign in with `kaiwu auth login`.',
      });
    }
    return c.json({ ...(await bootstrap.redeem(body.secret, body.deviceName)), serverId });
  });

  app.post('/v1/auth/device/code', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, codeSchema, MAX_SIGN_IN_BYTES);
    const base = options.publicUrl ?? new URL(c.req.url).origin;
    return c.json({ ...(await deviceFlow.start(body.device_name)), verification_uri: `${base}/devices` });
  });

  app.post('/v1/auth/device/token', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, tokenSchema, MAX_SIGN_IN_BYTES);
    const answer = await deviceFlow.poll(body.grant_type, body.device_code);
    return c.json(answer, 'error' in answer ? 400 : 200);
  });

  app.post('/v1/auth/logout', async (c) => {
    gate.requireOpen();
    const { tokenId, deviceId } = await authenticate(c.req.header('authorization'));
    await identity.revokeToken(tokenId);
    revocations.announce({ tokenId });
    if (deviceId === undefined) return c.json({ tokenId });
    await identity.revokeDevice(deviceId);
    revocations.announce({ deviceId });
    return c.json({ tokenId, deviceId });
  });

  app.get('/v1/whoami', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(c.req.header('authorization'));
    return c.json({
      serverId,
      backendVersion: options.version,
      tokenId: bearer.tokenId,
      kind: bearer.kind,
      ...(bearer.deviceId === undefined ? {} : { deviceId: bearer.deviceId }),
      scope: bearer.scope,
      surfaces: bearer.scope.surfaces ?? SURFACES,
    });
  });
}
