import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthClient } from '../../client/auth-client.ts';
import { KaiwuError, toWireError } from '../../core/errors.ts';
import { updateConfig } from '../../local/config.ts';
import type { Credentials } from '../../local/credentials.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import { makeIdentity, toRecipient, unsealText } from '../../local/identity-age.ts';
import { ensureAccountKey, type KeyState, takeAccountKey } from '../account-key.ts';
import type { App } from '../app.ts';
import { readBootstrap, signInWithSecret } from '../bootstrap.ts';
import { credentialsOf, identityOf, openAuth, optional, resolveTarget, type Target } from '../connection.ts';
import { daemonSummary } from '../daemon-control.ts';
import { toKeyCheck } from './auth-key.ts';
import { flag, text, toLocalCommand } from './local-command.ts';

export function authCommands(app: App): Command[] {
  return [
    toLocalCommand({
      path: 'auth login',
      summary: 'Sign this machine in to a backend.',
      description:
        'A backend on this machine needs nothing more. Any other shows a code that somebody who is signed in approves, in the web app or with `auth approve CODE`; an invitation stands in for that.',
      fields: { invite: text('One-time secret that the backend gave, in place of a code.') },
      examples: [{ title: 'Sign in to the active backend', input: {} }],
      errors: ['not_authenticated', 'backend_unreachable', 'rate_limited', 'timeout', 'state_damaged'],
      talks: true,
      run: (input, invocation) => login(app, input.invite as string | undefined, invocation),
    }),
    toLocalCommand({
      path: 'auth logout',
      summary: 'Sign this machine out: revokes its token and forgets it.',
      description:
        'The key of your files stays on this machine, so that signing out of the last device loses no file.',
      fields: { forgetKey: flag('Forget the key of your files as well.') },
      errors: ['state_damaged'],
      run: ({ forgetKey }, invocation) => logout(app, forgetKey === true, invocation),
    }),
    toLocalCommand({
      path: 'auth status',
      summary: 'Show who is signed in where, and whether the sign-in still works.',
      errors: ['state_damaged'],
      run: (_, invocation) => status(app, invocation),
    }),
  ];
}

async function login(app: App, invite: string | undefined, { flags, signal }: Invocation): Promise<object> {
  const bootstrap = await readBootstrap(app);
  const target = await resolveTarget(app, flags, true).catch((error: unknown) => {
    // Nothing chosen, but a backend of our own lies here.
    const isOpen =
      error instanceof KaiwuError && error.code === 'not_authenticated' && bootstrap !== undefined;
    if (!isOpen) throw error;
    return resolveTarget(app, { serverUrl: bootstrap.url }, false);
  });
  const auth = await openAuth(app, target);
  const secret = invite ?? (bootstrap?.url === target.url ? bootstrap.secret : undefined);
  const { credentials, identity } =
    secret === undefined
      ? await loginByCode(app, auth, signal)
      : { credentials: await signInWithSecret(auth, secret, signal), identity: undefined };
  const profile = await keepProfile(app, target);
  const credentialStore = credentialsOf(app, profile);
  const before = await credentialStore.read().catch(() => undefined);
  const store = await credentialStore.write(credentials);
  if (before?.url === target.url) await revoke(app, target, before.token, signal);
  const filesKey = await keepKey(app, profile, credentials.token, identity);
  const { deviceId, serverId } = credentials;
  return {
    profile: profile.profile,
    url: target.url,
    ...optional('deviceId', deviceId),
    ...optional('serverId', serverId),
    store,
    ...filesKey,
  };
}

/** The key of the account's files, as it came with the sign-in or is made at the first one. It never fails a sign-in. */
async function keepKey(app: App, target: Target, token: string, identity: string | undefined) {
  try {
    if (identity !== undefined) await takeAccountKey(app, target, token, identity);
    return toKeyNote(await ensureAccountKey(app, target, token), app.channel);
  } catch (error) {
    const { code, message } = toWireError(error);
    return { filesKey: `none: ${code}: ${message}` };
  }
}

const toKeyNote = (state: KeyState, program: string): { filesKey?: string; hint?: string } =>
  ({
    unsupported: {},
    here: { filesKey: 'here' },
    made: {
      filesKey: 'made here',
      hint: `Write down the recovery phrase: \`${program} auth recovery show\`.`,
    },
    missing: {
      filesKey: 'missing: files cannot be read here',
      hint: `Type the recovery phrase: \`${program} auth recovery restore\`.`,
    },
  })[state];

/** RFC 8628. The code goes to stderr: stdout belongs to the outcome. */
async function loginByCode(
  app: App,
  auth: AuthClient,
  signal: AbortSignal,
): Promise<{ credentials: Credentials; identity?: string }> {
  // Kept nowhere: it is good for this one handing over.
  const own = await makeIdentity();
  const recipient = await toRecipient(own);
  const code = await auth.requestCode(hostname(), signal, recipient);
  const minutes = Math.round(code.expires_in / 60);
  process.stderr.write(
    `To sign in, open ${code.verification_uri} and enter  ${code.user_code}\n` +
      `or, on a machine that is signed in:  ${app.channel} auth approve ${code.user_code}\n` +
      `Key check, for who wants to be sure of this machine:  --key-check ${toKeyCheck(recipient)}\n` +
      `Waiting; the code is good for ${minutes} minutes.\n`,
  );
  const until = app.runtime.monotonicMs() + code.expires_in * 1000;
  for (let interval = code.interval; app.runtime.monotonicMs() < until; ) {
    await sleep(interval * 1000, undefined, { signal }).catch(() => {
      throw new KaiwuError('canceled', 'Signing in was canceled.');
    });
    const poll = await auth.pollCode(code.device_code, signal);
    if (poll.state === 'approved') {
      const { token, deviceId, sealedKey } = poll;
      const identity = sealedKey && (await unsealText(sealedKey, own).catch(() => undefined));
      return { credentials: { token, deviceId, url: auth.url }, ...(identity ? { identity } : {}) };
    }
    if (poll.state === 'denied') throw new KaiwuError('forbidden', `The code ${code.user_code} was refused.`);
    if (poll.state === 'expired') break;
    if (poll.state === 'slow_down') interval += 5;
  }
  throw new KaiwuError('timeout', `The code ${code.user_code} was not approved in time.`, {
    hint: `Run \`${app.channel} auth login\` again for a new one.`,
  });
}

/** Gives an address that was only typed a profile, so that later commands and hosts find it. */
async function keepProfile(app: App, target: Target): Promise<Target> {
  const name = await updateConfig(
    app.paths,
    () => app.runtime.newId('mach'),
    (config) => {
      const known = Object.entries(config.profiles).find(([, { url }]) => url === target.url);
      const chosen = known?.[0] ?? freeName(target.url, config.profiles);
      config.profiles[chosen] ??= { url: target.url, ...optional('webappUrl', target.webappUrl) };
      config.activeProfile ??= chosen;
      return chosen;
    },
  );
  return resolveTarget(app, { server: name }, false);
}

function freeName(url: string, taken: Record<string, unknown>): string {
  const { hostname: host } = new URL(url);
  const base =
    host === '127.0.0.1' || host === 'localhost'
      ? 'local'
      : host.replaceAll(/[^a-z0-9.-]/gi, '').slice(0, 30);
  for (let i = 1; ; i++) {
    const name = i === 1 ? base : `${base}-${i}`;
    if (taken[name] === undefined) return name;
  }
}

async function logout(app: App, forgetKey: boolean, { flags, signal }: Invocation): Promise<object> {
  const target = await resolveTarget(app, flags, true);
  const store = credentialsOf(app, target);
  const credentials = await store.read();
  if (forgetKey) await identityOf(app, target).clear();
  if (credentials === undefined)
    return { profile: target.profile, url: target.url, note: 'Nobody was signed in.' };
  // The token goes to the backend that gave it, whatever the profile says now.
  const failure = await revoke(app, { ...target, url: credentials.url }, credentials.token, signal);
  await store.clear();
  const note = `The token could not be revoked (${failure}) Revoke this device from another machine.`;
  const revoked = failure === undefined;
  return { profile: target.profile, url: target.url, revoked, ...(revoked ? {} : { note }) };
}

/** Makes a token worthless. @returns why it could not be, in words */
async function revoke(
  app: App,
  target: Target,
  token: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const auth = await openAuth(app, target, token);
  return auth.logout(signal).then(
    () => undefined,
    (error: unknown) => {
      const { code, message } = toWireError(error);
      return code === 'not_authenticated' ? undefined : message;
    },
  );
}

async function status(app: App, { flags, signal }: Invocation): Promise<object> {
  const target = await resolveTarget(app, flags, true);
  const store = credentialsOf(app, target);
  const place = await store.place();
  const output = {
    profile: target.profile,
    url: target.url,
    cliVersion: app.version,
    store: place ?? 'none',
    ...(place === 'file' ? { file: target.paths.credentials } : {}),
  };
  const daemon = await daemonSummary(app, target);
  const checked = await checkSignIn(app, target, signal).catch((error: unknown) => {
    const { code, message, hint } = toWireError(error);
    if (code === 'internal') throw error;
    return { signedIn: false, problem: `${code}: ${message}`, ...optional('fix', hint) };
  });
  return { ...output, ...checked, daemon };
}

async function checkSignIn(app: App, target: Target, signal: AbortSignal): Promise<object> {
  const credentials = await credentialsOf(app, target).read();
  if (credentials === undefined)
    return { signedIn: false, fix: `Sign in with \`${app.channel} auth login\`.` };
  if (credentials.url !== target.url) {
    const problem = `not_authenticated: the sign-in is for ${credentials.url}, the profile names ${target.url}`;
    return { signedIn: false, problem, fix: `Sign in again with \`${app.channel} auth login\`.` };
  }
  const auth = await openAuth(app, target, credentials.token);
  const { serverId, backendVersion, deviceId } = await auth.whoami(signal);
  const older =
    backendVersion === app.version ? {} : { note: `backend ${backendVersion}, this command ${app.version}` };
  return { signedIn: true, serverId, backendVersion, ...optional('deviceId', deviceId), ...older };
}
