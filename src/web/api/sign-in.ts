import { createSignal } from 'solid-js';
import { browserName, kept, sleep } from '../browser/host.ts';
import { fileKey, keepSealedKey, makeOpener, toIdentity, toKeyCheck } from '../browser/file-key.ts';
import { ask, pageKey } from '../browser/http.ts';
import { onSignedOut } from './call.ts';

export type SignInState = 'checking' | 'in' | 'out' | 'unreachable';

const [state, setState] = createSignal<SignInState>('checking');
/** Why this browser is not signed in, where there is something to say. */
const [refusal, setRefusal] = createSignal<string>();

export { state as signInState, refusal };

/** This browser is signed in: the page keeps its half. */
export function enter(half: string): void {
  pageKey.set(half);
  setRefusal(undefined);
  setState('in');
}

/** What became of a key: signed in, or the reason of RFC 8628 why not. */
async function redeem(key: string, opener?: string): Promise<string> {
  const answer = await ask('POST', '/v1/auth/app-link/redeem', { key, browser: browserName() });
  if (answer === undefined) return 'unreachable';
  const body = answer.body as { pageKey?: string; sealedKey?: string; error?: unknown } | undefined;
  if (answer.status === 200 && typeof body?.pageKey === 'string') {
    if (body.sealedKey !== undefined && opener !== undefined) await keepSealedKey(body.sealedKey, opener);
    enter(body.pageKey);
    return 'in';
  }
  return typeof body?.error === 'string' ? body.error : 'refused';
}

/** Takes the key of a link out of the address before anything else sees it, and signs in with it. */
export async function begin(): Promise<void> {
  onSignedOut(() => end());
  pageKey.onChange(() => void check());
  const link = new URLSearchParams(location.hash.slice(1));
  const key = link.get('key');
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  if (key !== null) {
    const opener = link.get('open');
    const outcome = await redeem(key, opener === null ? undefined : toIdentity(opener));
    if (outcome === 'in') return;
    setRefusal(outcome);
  }
  await check();
}

async function check(): Promise<void> {
  if (pageKey.get() === undefined) {
    setState('out');
    return;
  }
  const answer = await ask('GET', '/v1/whoami');
  if (answer === undefined || answer.status >= 500) setState('unreachable');
  else if (answer.status === 200) setState('in');
  else end();
}

export const checkAgain = check;

/** Somebody signed this browser out from elsewhere. */
function end(): void {
  forget();
  setRefusal('ended');
}

function forget(): void {
  pageKey.set(undefined);
  fileKey.set(undefined);
  setState('out');
}

export async function signOut(): Promise<void> {
  await ask('POST', '/v1/auth/logout', {});
  kept.forgetAll('draft.');
  forget();
}

export interface ShownCode {
  code: string;
  /** Of the key that this browser made for the sign-in. */
  keyCheck?: string;
  expiresInSeconds: number;
}

/**
 * RFC 8628: shows a code and waits until it is approved on a signed-in device.
 * @returns why it ended without a sign-in, or `in`
 */
export async function signInByCode(show: (code: ShownCode) => void, signal: AbortSignal): Promise<string> {
  const opener = await makeOpener().catch(() => undefined);
  const started = await ask('POST', '/v1/auth/device/code', {
    device_name: browserName(),
    recipient: opener?.recipient,
  });
  if (started?.status !== 200) return started === undefined ? 'unreachable' : 'refused';
  const code = started.body as {
    device_code: string;
    user_code: string;
    expires_in: number;
    interval: number;
  };
  const keyCheck = opener === undefined ? undefined : await toKeyCheck(opener.recipient);
  show({ code: code.user_code, keyCheck, expiresInSeconds: code.expires_in });
  let seconds = code.interval;
  while (!signal.aborted) {
    await sleep(seconds * 1000, signal);
    if (signal.aborted) return 'canceled';
    const outcome = await redeem(code.device_code, opener?.identity);
    if (outcome === 'slow_down') seconds += 5;
    else if (outcome !== 'authorization_pending' && outcome !== 'unreachable') return outcome;
  }
  return 'canceled';
}
