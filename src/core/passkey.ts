/** Passkeys (WebAuthn): what the page and the backend must agree on. */

/** Most characters of a passkey's name. */
export const PASSKEY_NAME_MAX = 60;

/** Doors of the backend: to add a passkey, and to sign in with one. Each has a first step that answers a challenge. */
export const PASSKEY_PATHS = {
  addOptions: '/v1/auth/passkeys/options',
  add: '/v1/auth/passkeys',
  signInOptions: '/v1/auth/passkey-sign-in/options',
  signIn: '/v1/auth/passkey-sign-in',
} as const;

/** Why a ceremony came to nothing, in `details.reason` of the error: the page says each in the person's language. */
export type PasskeyRefusal =
  /** The page's address is none that WebAuthn works at: an IP address, or plain HTTP elsewhere than localhost. */
  | 'address'
  /** The challenge is not known: too old, or used already. */
  | 'challenge'
  /** No passkey of this backend, or one that was revoked. */
  | 'unknown'
  /** Made for another backend at the same host name. */
  | 'other_backend'
  /** Signed by something that is not the passkey, for another page, or without the person being verified. */
  | 'not_valid'
  /** The authenticator counts fewer signatures than it did before: there may be a copy of it. */
  | 'counter'
  /** It has been added already. */
  | 'already'
  /** As many as an account may have. */
  | 'too_many';

/** Whether WebAuthn can name a page at this host: it takes domains, and no addresses. */
export const isDomain = (hostname: string): boolean =>
  !hostname.includes(':') && !/^\d{1,3}(\.\d{1,3}){3}$/.test(hostname);
