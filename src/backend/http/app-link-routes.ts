import type { Hono } from 'hono';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { DeviceFlow } from '../auth/device-flow.ts';
import type { AgentGuard } from './agent-guard.ts';
import type { AuthAudit } from './auth-audit.ts';
import type { Authenticate, Bearer } from './authenticate.ts';
import { MAX_SIGN_IN_BYTES, readChecked } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { splitToken, toCredential } from './web-credential.ts';

const linkSchema = z.object({ sealedKey: z.string().min(1).max(4096).optional() });
const redeemSchema = z.object({
  key: z.string().min(1).max(200),
  browser: z.string().trim().min(1).max(60).default('Browser'),
});

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Opens the app signed in: a link that is good once, made by a device, or a code that a device approved. */
export function addAppLinkRoutes(
  app: Hono<HttpEnv>,
  options: {
    deviceFlow: DeviceFlow;
    authenticate: Authenticate;
    agents: AgentGuard;
    audit: AuthAudit;
    gate: Gate;
    publicUrl: string | undefined;
  },
): void {
  const { deviceFlow, authenticate, agents, audit, gate, publicUrl } = options;

  app.post('/v1/auth/app-link', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    await agents.refuseAgents(c.env.incoming, { name: 'auth.app_link', bearer });
    requireFullDevice(bearer);
    const { sealedKey } = await readChecked(c.env.incoming, linkSchema, MAX_SIGN_IN_BYTES);
    const { key, expiresInSeconds } = await deviceFlow.link(sealedKey);
    await audit({ name: 'auth.app_link', bearer });
    // The secret stands behind the #: no browser sends that to a server, so it is in no log.
    const base = publicUrl ?? new URL(c.req.url).origin;
    return c.json({ url: `${base}/#key=${key}`, expiresInSeconds });
  });

  app.post('/v1/auth/app-link/redeem', async (c) => {
    gate.requireOpen();
    const { key, browser } = await readChecked(c.env.incoming, redeemSchema, MAX_SIGN_IN_BYTES);
    await agents.refuseAgents(c.env.incoming, { name: 'auth.app_sign_in' });
    const outcome = await deviceFlow.poll(GRANT_TYPE, key, { kind: 'web', name: browser });
    if ('error' in outcome) return c.json(outcome, 400);
    const { access_token: token, device_id: deviceId, tokenId, sealed_key: sealedKey } = outcome;
    const pageKey = splitToken(c, token, publicUrl?.startsWith('https:') ?? false);
    await audit({ name: 'auth.app_sign_in', surface: 'app', bearer: { tokenId, deviceId } });
    return c.json({ pageKey, deviceId, ...(sealedKey === undefined ? {} : { sealedKey }) });
  });
}

/** @throws permission_escalation_denied */
function requireFullDevice({ kind, scope }: Bearer): void {
  const full = scope.surfaces === undefined && scope.actions === undefined && scope.sessionId === undefined;
  if (full && kind === 'device') return;
  throw new KaiwuError('permission_escalation_denied', `A ${kind} token cannot open the app signed in.`, {
    hint: 'Make the link with `kaiwu app` on a machine that is signed in.',
  });
}
