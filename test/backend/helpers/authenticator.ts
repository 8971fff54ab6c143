import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** What an authenticator and its browser may do wrong. */
export interface Faults {
  origin?: string;
  rpId?: string;
  /** Default true. */
  verified?: boolean;
  counter?: number;
  userHandle?: string;
  type?: string;
  /** Changes what is signed after it was signed. */
  tamper?: boolean;
}

interface CreationOptions {
  challenge: string;
  rp: { id: string };
  user: { id: string };
}
interface RequestOptions {
  challenge: string;
  rpId: string;
}

/** An authenticator in software, and the browser before it: one passkey of ES256. */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let userHandle = '';
  let counter = 0;

  const clientData = (type: string, challenge: string, faults: Faults) =>
    Buffer.from(
      JSON.stringify({
        type: faults.type ?? type,
        challenge,
        origin: faults.origin ?? origin,
        crossOrigin: false,
      }),
    );
  function authenticatorData(rpId: string, attested: boolean, faults: Faults): Buffer {
    // User present, user verified, attested data follows.
    const flags = 1 | (faults.verified === false ? 0 : 4) | (attested ? 64 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(faults.counter ?? counter);
    const rpIdHash = createHash('sha256')
      .update(faults.rpId ?? rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([flags]), count]);
  }
  const both = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' };

  return {
    credentialId: both.id,
    /** Counts from here on. */
    countFrom(value: number) {
      counter = value;
    },
    create({ challenge, rp, user }: CreationOptions, faults: Faults = {}, attestation = {}) {
      userHandle = user.id;
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(jwk.x!, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(jwk.y!, 'base64url'))],
      ]);
      const authData = Buffer.concat([
        authenticatorData(rp.id, true, faults),
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        isoCBOR.encode(key),
      ]);
      const statement = { fmt: 'none', attStmt: new Map<string, unknown>(), ...attestation };
      const object = new Map<string, unknown>([
        ['fmt', statement.fmt],
        ['attStmt', statement.attStmt],
        ['authData', new Uint8Array(authData)],
      ]);
      return {
        ...both,
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, faults).toString('base64url'),
          attestationObject: Buffer.from(isoCBOR.encode(object as never)).toString('base64url'),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      };
    },
    get({ challenge, rpId }: RequestOptions, faults: Faults = {}) {
      if (counter > 0 && faults.counter === undefined) counter++;
      const data = authenticatorData(rpId, false, faults);
      const client = clientData('webauthn.get', challenge, faults);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      const signature = sign('sha256', signed, privateKey);
      if (faults.tamper === true) data[36]! ^= 1;
      return {
        ...both,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: faults.userHandle ?? userHandle,
        },
        clientExtensionResults: {},
      };
    },
  };
}
