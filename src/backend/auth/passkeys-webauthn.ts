import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { PasskeyRefusal } from '../../core/passkey.ts';
import type { StoredPasskey } from '../store/passkeys.ts';
import type { PasskeySite } from './passkeys-site.ts';

/** Half a megabyte that few processes need: loaded by the first ceremony. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** ES256 and RS256, as every authenticator has one of, and EdDSA. */
const ALGORITHMS = [-8, -7, -257];

/** Milliseconds that the browser waits for the person. */
const TIMEOUT_MS = 120_000;

const base64url = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\w-]+$/, 'must be base64url');
const common = { id: base64url(1400), rawId: base64url(1400), type: z.literal('public-key') };

/** What browsers answer to a creation, as far as it is looked at. */
export const createdSchema = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url(4000),
    attestationObject: base64url(12_000),
    transports: z.array(z.string().max(20)).max(8).optional(),
  }),
});

/** What browsers answer to a request. */
export const assertedSchema = z.object({
  ...common,
  response: z.object({
    clientDataJSON: base64url(4000),
    authenticatorData: base64url(4000),
    signature: base64url(4000),
    userHandle: base64url(200).optional(),
  }),
});

export type Created = z.infer<typeof createdSchema>;
export type Asserted = z.infer<typeof assertedSchema>;

/** The challenge that was signed, as it says itself; undefined for what is no client data. */
export function challengeOf(clientDataJSON: string): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      challenge?: unknown;
    };
    return typeof challenge === 'string' && challenge.length <= 200 ? challenge : undefined;
  } catch {
    return undefined;
  }
}

export async function toCreationOptions(
  site: PasskeySite,
  options: { challenge: Uint8Array<ArrayBuffer>; userId: Uint8Array<ArrayBuffer>; known: StoredPasskey[] },
) {
  return (await library()).generateRegistrationOptions({
    rpName: 'Kaiwu',
    rpID: site.rpId,
    // Backends at one host name share what the browser offers; the port tells them apart.
    userName: `Kaiwu (${new URL(site.origin).host})`,
    userDisplayName: 'Kaiwu',
    userID: options.userId,
    challenge: options.challenge,
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: options.known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** Names no passkeys: the browser offers those that it has for the host name. */
export const toRequestOptions = async (site: PasskeySite, challenge: Uint8Array<ArrayBuffer>) =>
  (await library()).generateAuthenticationOptions({
    rpID: site.rpId,
    challenge,
    timeout: TIMEOUT_MS,
    userVerification: 'required',
  });

/** @throws invalid_input */
export async function verifyCreated(response: Created, challenge: string, site: PasskeySite) {
  return orNotValid('invalid_input', async () => {
    // None was asked for, and certificates would have addresses of strangers asked for lists of revoked ones.
    const attestation = (await helpers()).decodeAttestationObject(
      new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url')),
    );
    const isBare = attestation.get('attStmt').get('x5c') === undefined;
    if (!isBare || !['none', 'packed'].includes(attestation.get('fmt'))) {
      throw new Error('an attestation came, and none was asked for');
    }
    const { verified, registrationInfo } = await (await library()).verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return verified ? registrationInfo?.credential : undefined;
  });
}

/** Checks all but the counter, which says nothing before the signature holds. @returns the counter @throws not_authenticated */
export const verifyAsserted = (
  response: Asserted,
  challenge: string,
  site: PasskeySite,
  passkey: StoredPasskey,
): Promise<number> =>
  orNotValid('not_authenticated', async () => {
    const { verified, authenticationInfo } = await (await library()).verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: 0,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  });

/** Whatever the library throws, a stranger sent. */
async function orNotValid<T>(
  code: 'invalid_input' | 'not_authenticated',
  verify: () => Promise<T | undefined>,
): Promise<T> {
  let cause: unknown;
  try {
    const verified = await verify();
    if (verified !== undefined) return verified;
  } catch (error) {
    cause = error;
  }
  const why = cause instanceof Error ? `: ${cause.message.slice(0, 200)}` : '';
  throw new KaiwuError(code, `What the passkey answered does not hold${why}.`, {
    hint: 'Try again on this very page. If it goes on, revoke the passkey and add another.',
    details: { reason: 'not_valid' satisfies PasskeyRefusal },
    cause,
  });
}
