import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { isLoopback } from '../../core/loopback.ts';
import { isDomain } from '../../core/passkey.ts';

/** Loaded by the first ceremony. */
const webauthn = () => import('@simplewebauthn/browser');

/** Whether this page can use passkeys, or why not. */
export function passkeySupport(): 'ok' | 'address' | 'insecure' | 'missing' {
  if (!isDomain(location.hostname)) return 'address';
  if (!isSecureContext) return 'insecure';
  return 'PublicKeyCredential' in window ? 'ok' : 'missing';
}

/** A page of this machine at the name that passkeys can belong to; undefined where this page is no such. */
export function atLocalhost(path: string): string | undefined {
  if (isDomain(location.hostname) || !isLoopback(location.hostname)) return undefined;
  const url = new URL(path, location.href);
  url.hostname = 'localhost';
  return url.href;
}

/** What an authenticator answers to this is a secret that only it can tell (the extension `prf` of WebAuthn). */
const SALT = new TextEncoder().encode('kaiwu: key of the files');

/** What a ceremony came to: what the backend hears, and a key that it does not. */
export interface Ceremony {
  response: unknown;
  /** Undefined where the authenticator tells no secrets. */
  sealer?: CryptoKey;
}

type Prf = { enabled?: boolean; results?: { first?: BufferSource } };
const asked = { prf: { eval: { first: SALT } } } as object;

/** Of the extension's answer nothing leaves the page. */
async function toCeremony(answer: { clientExtensionResults: object }): Promise<Ceremony> {
  const secret = (answer.clientExtensionResults as { prf?: Prf }).prf?.results?.first;
  const response = { ...answer, clientExtensionResults: {} };
  return secret === undefined ? { response } : { response, sealer: await toSealer(secret) };
}

async function toSealer(secret: BufferSource): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const info = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: SALT };
  return crypto.subtle.deriveKey(info, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

/** Makes a passkey. @throws what `whyNot` tells */
export async function createPasskey(options: unknown): Promise<Ceremony> {
  const { startRegistration, startAuthentication } = await webauthn();
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  const answer = await startRegistration({ optionsJSON: { ...optionsJSON, extensions: asked } });
  const made = await toCeremony(answer);
  const { prf } = answer.clientExtensionResults as { prf?: Prf };
  if (made.sealer !== undefined || prf?.enabled !== true) return made;
  // Some tell their secret only when they are used. This answer goes nowhere, so any challenge will do.
  const { sealer } = await startAuthentication({
    optionsJSON: {
      challenge: optionsJSON.challenge,
      rpId: location.hostname,
      allowCredentials: [{ id: answer.id, type: 'public-key' }],
      userVerification: 'required',
      extensions: asked,
    },
  }).then(toCeremony, () => ({ sealer: undefined }));
  return { ...made, ...(sealer === undefined ? {} : { sealer }) };
}

/** Has the person choose a passkey. @throws what `whyNot` tells */
export async function usePasskey(options: unknown): Promise<Ceremony> {
  const { startAuthentication } = await webauthn();
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON;
  return toCeremony(await startAuthentication({ optionsJSON: { ...optionsJSON, extensions: asked } }));
}

/** Browsers tell nobody whether a person refused or nothing was found: both are `NotAllowedError`. */
const REASONS: Record<string, string> = {
  NotAllowedError: 'canceled',
  AbortError: 'canceled',
  InvalidStateError: 'already',
  SecurityError: 'address',
  NotSupportedError: 'unfit',
  ConstraintError: 'unfit',
};

export const whyNot = (error: unknown): string =>
  (error instanceof Error ? REASONS[error.name] : undefined) ?? 'failed';

const IV_BYTES = 12;

/** Base64 of what only the passkey opens again. */
export async function sealBy(sealer: CryptoKey, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, sealer, new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...iv, ...new Uint8Array(sealed)));
}

/** Undefined for what another passkey has sealed, or is damaged. */
export async function unsealBy(sealer: CryptoKey, sealed: string): Promise<string | undefined> {
  try {
    const bytes = Uint8Array.from(atob(sealed), (char) => char.charCodeAt(0));
    const iv = bytes.subarray(0, IV_BYTES);
    const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, sealer, bytes.subarray(IV_BYTES));
    return new TextDecoder().decode(plain);
  } catch {
    return undefined;
  }
}
