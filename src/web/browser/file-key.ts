import { kept } from './host.ts';

/** Loaded by what needs it alone: most visits open no file. */
const age = () => import('age-encryption');

/** The key of the account's files, where this browser was handed it. */
export const fileKey = {
  get: () => kept.get('fileKey'),
  set: (identity: string | undefined) => kept.set('fileKey', identity),
};

const toBytes = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

export async function decrypterOf(identity: string) {
  const decrypter = new (await age()).Decrypter();
  decrypter.addIdentity(identity);
  return decrypter;
}

/** A key for one sign-in, and its public half: the account's key comes sealed to it. */
export async function makeOpener(): Promise<{ identity: string; recipient: string }> {
  const { generateX25519Identity, identityToRecipient } = await age();
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

const IDENTITY_MARK = 'AGE-SECRET-KEY-1';

/** The identity that a link carries in short, and the other way round. */
export const toIdentity = (short: string): string => IDENTITY_MARK + short.toUpperCase();
export const toShortIdentity = (identity: string): string =>
  identity.slice(IDENTITY_MARK.length).toLowerCase();

/** Keeps the account's key that came sealed. One that cannot be opened is none: files stay closed here. */
export async function keepSealedKey(sealed: string, opener: string): Promise<void> {
  try {
    fileKey.set(await unsealText(sealed, opener));
  } catch {
    fileKey.set(undefined);
  }
}

/** @throws for what was sealed to another key, or is damaged */
export const unsealText = async (sealed: string, identity: string): Promise<string> =>
  (await decrypterOf(identity)).decrypt(toBytes(sealed), 'text');

export async function sealText(text: string, recipient: string): Promise<string> {
  const encrypter = new (await age()).Encrypter();
  encrypter.addRecipient(recipient);
  return toBase64(await encrypter.encrypt(text));
}

/** What both screens show of a recipient: who stands between them has another one. */
export async function toKeyCheck(recipient: string): Promise<string> {
  const hex = (await toHex(new TextEncoder().encode(recipient))).slice(0, 12).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8)}`;
}

async function toHex(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
