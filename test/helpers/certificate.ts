import { generateKeyPairSync, sign } from 'node:crypto';

/** DER: a tag, a length, the content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (date: Date): Buffer =>
  der(0x17, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value));

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_ALT_NAME = '551d11';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A certificate of its own making for 127.0.0.1, as a company's private backend has, and its key; both PEM. */
export function makeCertificate(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from('kaiwu-test')))));
  const now = Date.now();
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(utcTime(new Date(now - DAY_MS)), utcTime(new Date(now + DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
        extension(SUBJECT_ALT_NAME, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))),
      ),
    ),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', tbs, privateKey));
  const cert = sequence(tbs, ECDSA_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  };
}
