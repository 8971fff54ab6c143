import type { WireError } from '../../core/errors.ts';
import { PASSKEY_PATHS } from '../../core/passkey.ts';
import { fileKey, makeOpener, sealText, toShortIdentity } from '../browser/file-key.ts';
import { browserName } from '../browser/host.ts';
import { type Answer, ask } from '../browser/http.ts';
import { type Ceremony, createPasskey, sealBy, unsealBy, usePasskey, whyNot } from '../browser/passkey.ts';
import { actions, CallError, must, UNREACHABLE } from './call.ts';
import { enter } from './sign-in.ts';

/** Why it came to nothing: a word for which the page has a text. */
type Reason = string;

/** Adds a passkey of this browser, with the key of the files in it where both can. @returns why not; undefined when done */
export async function addPasskey(name: string): Promise<Reason | undefined> {
  const made = await hold(PASSKEY_PATHS.addOptions, createPasskey);
  if (typeof made === 'string') return made;
  const identity = fileKey.get();
  const sealedKey =
    made.sealer === undefined || identity === undefined ? undefined : await sealBy(made.sealer, identity);
  const added = await ask('POST', PASSKEY_PATHS.add, { name, response: made.response, sealedKey });
  return added?.status === 200 ? undefined : reasonOf(added);
}

/** Signs in with a passkey that the person chooses. @returns why not; undefined when signed in */
export async function signInByPasskey(): Promise<Reason | undefined> {
  const used = await hold(PASSKEY_PATHS.signInOptions, usePasskey);
  if (typeof used === 'string') return used;
  const answer = await ask('POST', PASSKEY_PATHS.signIn, { response: used.response, browser: browserName() });
  const { pageKey, sealedKey } = (answer?.body ?? {}) as { pageKey?: unknown; sealedKey?: unknown };
  if (answer?.status !== 200 || typeof pageKey !== 'string') return reasonOf(answer);
  if (used.sealer !== undefined && typeof sealedKey === 'string') {
    fileKey.set(await unsealBy(used.sealer, sealedKey));
  }
  enter(pageKey);
  return undefined;
}

async function hold(
  path: string,
  ceremony: (options: unknown) => Promise<Ceremony>,
): Promise<Ceremony | Reason> {
  const begun = await ask('POST', path, {});
  if (begun?.status !== 200) return reasonOf(begun);
  try {
    return await ceremony(begun.body);
  } catch (error) {
    return whyNot(error);
  }
}

function reasonOf(answer: Answer | undefined): Reason {
  if (answer === undefined) return 'unreachable';
  const { error } = (answer.body ?? {}) as { error?: Partial<WireError> };
  const reason = error?.details?.reason;
  return typeof reason === 'string' ? reason : (error?.code ?? 'failed');
}

/**
 * Goes on at localhost, where passkeys work, signed in: this browser lets itself in there as it would another device.
 * @throws CallError
 */
export async function moveToLocalhost(target: string): Promise<void> {
  const identity = fileKey.get();
  const opener = identity === undefined ? undefined : await makeOpener();
  const begun = await ask('POST', '/v1/auth/device/code', {
    device_name: browserName(),
    recipient: opener?.recipient,
  });
  const code = (begun?.body ?? {}) as { device_code?: string; user_code?: string; error?: WireError };
  if (code.device_code === undefined || code.user_code === undefined) {
    throw new CallError(code.error ?? UNREACHABLE);
  }
  const sealed = opener === undefined ? {} : { sealedKey: await sealText(identity ?? '', opener.recipient) };
  await must(actions.device.approve({ userCode: code.user_code, ...sealed }));
  const open = opener === undefined ? '' : `&open=${toShortIdentity(opener.identity)}`;
  location.assign(`${target}#key=${encodeURIComponent(code.device_code)}${open}`);
}
