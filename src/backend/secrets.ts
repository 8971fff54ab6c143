import { Buffer } from 'node:buffer';

/** Random bytes of a cryptographic source. */
export type RandomBytes = (size: number) => Uint8Array;

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** A new bearer token: `kw_` and 256 random bits. Only its digest is ever stored. */
export const newToken = (randomBytes: RandomBytes): string => `kw_${base64url(randomBytes(32))}`;

/** A new secret for one use. */
export const newSecret = (randomBytes: RandomBytes): string => base64url(randomBytes(32));

/** Upper-case letters without vowels, so that no word comes out, and none that looks like a digit. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LENGTH = 8;

/** A new user code of RFC 8628, as stored: without the hyphen. */
export function newUserCode(randomBytes: RandomBytes): string {
  let code = '';
  while (code.length < USER_CODE_LENGTH) {
    // Bytes past the last whole multiple would favour the first letters.
    const fair = randomBytes(16).filter((byte) => byte < 256 - (256 % USER_CODE_LETTERS.length));
    for (const byte of fair) code += USER_CODE_LETTERS[byte % USER_CODE_LETTERS.length];
  }
  return code.slice(0, USER_CODE_LENGTH);
}

/** `ABCDEFGH` as people read it: `ABCD-EFGH`. */
export const showUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** What a person typed, as stored: any case, hyphens and spaces or none. */
export const readUserCode = (typed: string): string => typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
