import { KaiwuError } from '../core/errors.ts';

/** Loaded by the few commands that need it. */
const age = () => import('age-encryption');

/** A new X25519 identity of age. */
export const makeIdentity = async (): Promise<string> => (await age()).generateX25519Identity();

/** The public half of an identity. @throws invalid_input */
export async function toRecipient(identity: string): Promise<string> {
  try {
    return await (await age()).identityToRecipient(identity);
  } catch {
    // Without a cause: it would quote the secret.
    throw new KaiwuError('invalid_input', 'This is no identity of age.');
  }
}

/** Encrypts a text so that only the holder of the recipient's identity reads it. Base64. */
export async function sealText(text: string, recipient: string): Promise<string> {
  const encrypter = new (await age()).Encrypter();
  encrypter.addRecipient(recipient);
  return Buffer.from(await encrypter.encrypt(text)).toString('base64');
}

/** @throws state_damaged for what was sealed to another or is not whole */
export async function unsealText(sealed: string, identity: string): Promise<string> {
  try {
    return await (await decrypterOf(identity)).decrypt(Buffer.from(sealed, 'base64'), 'text');
  } catch {
    throw new KaiwuError('state_damaged', 'It is sealed to another key, or damaged.');
  }
}

/** The plain bytes of a ciphertext, as they come. Ends with the library's error where the ciphertext is not whole. */
export async function decryptStream(
  source: AsyncIterable<Uint8Array>,
  identity: string,
): Promise<AsyncIterable<Uint8Array>> {
  const chunks = source[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return (await decrypterOf(identity)).decrypt(stream);
}

async function decrypterOf(identity: string) {
  const decrypter = new (await age()).Decrypter();
  decrypter.addIdentity(identity);
  return decrypter;
}
