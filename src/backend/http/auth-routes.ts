import type { Hono } from 'hono';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { RECIPIENT } from '../../core/file.ts';
import { SURFACES } from '../../core/spec.ts';
import type { Bootstrap } from '../auth/bootstrap.ts';
import type { DeviceFlow } from '../auth/device-flow.ts';
import type { Revocations } from '../revocations.ts';
import type { IdentityStore } from '../store/store.ts';
import type { AgentGuard } from './agent-guard.ts';
import type { AuthAudit } from './auth-audit.ts';
import type { Authenticate } from './authenticate.ts';
import { MAX_SIGN_IN_BYTES, readChecked } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { forgetCookie, toCredential } from './web-credential.ts';

const name = z.string().trim().min(1).max(100);
const secret = z.string().min(1).max(200);
const bootstrapSchema = z.object({ secret, deviceName: name });
const codeSchema = z.object({
  device_name: name,
  recipient: z.string().regex(RECIPIENT, 'must be a recipient of age').optional(),
});
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
    agents: AgentGuard;
    audit: AuthAudit;
    gate: Gate;
    serverId: string;
    version: string;
    /** Address that others reach this server by; undefined: the one that the request names. */
    publicUrl: string | undefined;
  },
): void {
  const { bootstrap, deviceFlow, identity, revocations, authenticate, agents, audit, gate, serverId } =
    options;

  app.post('/v1/auth/bootstrap', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, bootstrapSchema, MAX_SIGN_IN_BYTES);
    await agents.refuseAgents(c.env.incoming, { name: 'auth.bootstrap' });
    if (bootstrap === undefined) {
      throw new KaiwuError('unsupported', 'This backend has no bootstrap secret.', {
        hint: 'Sign in with `kaiwu auth login`.',
      });
    }
    const signedIn = await bootstrap.redeem(body.secret, body.deviceName);
    await audit({ name: 'auth.bootstrap', bearer: signedIn, input: { deviceName: body.deviceName } });
    return c.json({ ...signedIn, serverId });
  });

  app.post('/v1/auth/device/code', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, codeSchema, MAX_SIGN_IN_BYTES);
    const base = options.publicUrl ?? new URL(c.req.url).origin;
    return c.json({
      ...(await deviceFlow.start(body.device_name, body.recipient)),
      verification_uri: `${base}/devices`,
    });
  });

  app.post('/v1/auth/device/token', async (c) => {
    gate.requireOpen();
    const body = await readChecked(c.env.incoming, tokenSchema, MAX_SIGN_IN_BYTES);
    const outcome = await deviceFlow.poll(body.grant_type, body.device_code);
    if ('error' in outcome) return c.json(outcome, 400);
    const { tokenId, ...answer } = outcome;
    await audit({ name: 'auth.device_token', bearer: { tokenId, deviceId: answer.device_id } });
    return c.json(answer);
  });

  app.post('/v1/auth/logout', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    await agents.refuseAgents(c.env.incoming, { name: 'auth.logout', bearer });
    const { tokenId, kind } = bearer;
    // A session's token goes with its device, and not the other way round.
    const deviceId = kind === 'agent' ? undefined : bearer.deviceId;
    await identity.revokeToken(tokenId);
    revocations.announce({ tokenId });
    if (deviceId !== undefined) {
      await identity.revokeDevice(deviceId);
      revocations.announce({ deviceId });
    }
    const isWeb = bearer.kind === 'web';
    if (isWeb) forgetCookie(c, options.publicUrl?.startsWith('https:') ?? false);
    await audit({ name: 'auth.logout', surface: isWeb ? 'app' : 'cli', bearer });
    return c.json({ tokenId, ...(deviceId === undefined ? {} : { deviceId }) });
  });

  app.get('/v1/whoami', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
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
