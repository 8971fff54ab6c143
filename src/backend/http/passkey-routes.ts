import type { Hono } from 'hono';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { PASSKEY_NAME_MAX, PASSKEY_PATHS } from '../../core/passkey.ts';
import type { Passkey } from '../../core/ports/passkeys.ts';
import type { Passkeys } from '../auth/passkeys.ts';
import { toPasskeySite } from '../auth/passkeys-site.ts';
import { assertedSchema, createdSchema } from '../auth/passkeys-webauthn.ts';
import type { AgentGuard } from './agent-guard.ts';
import type { AuthAudit } from './auth-audit.ts';
import type { Authenticate, Bearer } from './authenticate.ts';
import { readChecked } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { splitToken, toCredential } from './web-credential.ts';

/** Largest body here, bytes: an attestation may carry certificates that are refused by name. */
const MAX_BYTES = 32 * 1024;

const addSchema = z.object({
  name: z.string().trim().min(1).max(PASSKEY_NAME_MAX),
  response: createdSchema,
  sealedKey: z.string().min(1).max(4096).optional(),
});
const signInSchema = z.object({
  browser: z.string().trim().min(1).max(60).default('Browser'),
  response: assertedSchema,
});

/** Adding a passkey, and signing in with one. */
export function addPasskeyRoutes(
  app: Hono<HttpEnv>,
  options: {
    passkeys: Passkeys;
    authenticate: Authenticate;
    agents: AgentGuard;
    audit: AuthAudit;
    gate: Gate;
    publicUrl: string | undefined;
  },
): void {
  const { passkeys, authenticate, agents, audit, gate, publicUrl } = options;

  app.post(PASSKEY_PATHS.addOptions, async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    await agents.refuseAgents(c.env.incoming, { name: 'auth.passkey_add', bearer });
    requirePersonInApp(bearer);
    return c.json(await passkeys.beginAdd(toPasskeySite(c.req.header('origin')), bearer.tokenId));
  });

  app.post(PASSKEY_PATHS.add, async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    await agents.refuseAgents(c.env.incoming, { name: 'auth.passkey_add', bearer });
    requirePersonInApp(bearer);
    const site = toPasskeySite(c.req.header('origin'));
    const added = await passkeys.add(
      site,
      bearer.tokenId,
      await readChecked(c.env.incoming, addSchema, MAX_BYTES),
    );
    await audit({ name: 'auth.passkey_add', surface: 'app', bearer, input: toAudited(added) });
    return c.json(added);
  });

  app.post(PASSKEY_PATHS.signInOptions, async (c) => {
    gate.requireOpen();
    await agents.refuseAgents(c.env.incoming, { name: 'auth.passkey_sign_in' });
    return c.json(await passkeys.beginSignIn(toPasskeySite(c.req.header('origin'))));
  });

  app.post(PASSKEY_PATHS.signIn, async (c) => {
    gate.requireOpen();
    const given = await readChecked(c.env.incoming, signInSchema, MAX_BYTES);
    await agents.refuseAgents(c.env.incoming, { name: 'auth.passkey_sign_in' });
    const site = toPasskeySite(c.req.header('origin'));
    let known: Passkey | undefined;
    const about = () => ({
      name: 'auth.passkey_sign_in',
      surface: 'app' as const,
      ...(known === undefined ? {} : { input: toAudited(known) }),
    });
    try {
      const { token, tokenId, deviceId, sealedKey } = await passkeys.signIn(site, given, (passkey) => {
        known = passkey;
      });
      const pageKey = splitToken(c, token, publicUrl?.startsWith('https:') ?? false);
      await audit({ ...about(), bearer: { tokenId, deviceId } });
      return c.json({ pageKey, deviceId, ...(sealedKey === undefined ? {} : { sealedKey }) });
    } catch (error) {
      // What a stranger tries with passkeys that nobody has is counted, and not kept.
      if (known !== undefined && error instanceof KaiwuError) await audit({ ...about(), code: error.code });
      throw error;
    }
  });
}

const toAudited = ({ passkeyId, name, site }: Passkey) => ({ passkeyId, name, site });

/** @throws permission_escalation_denied */
function requirePersonInApp({ kind, scope }: Bearer): void {
  const full = scope.surfaces === undefined && scope.actions === undefined && scope.sessionId === undefined;
  if (full && kind === 'web') return;
  throw new KaiwuError('permission_escalation_denied', `A ${kind} token cannot add a passkey.`, {
    hint: 'Open the app with `kaiwu app` and add it there, under Devices.',
  });
}
