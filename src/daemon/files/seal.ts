import { Encrypter } from 'age-encryption';
import type { SealedDescription } from '../../core/file.ts';

function encrypterFor(recipient: string): Encrypter {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter;
}

/** A stream as age encrypts it, chunk by chunk. */
export async function encryptStream(
  plain: AsyncGenerator<Uint8Array>,
  recipient: string,
): Promise<AsyncIterable<Uint8Array>> {
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await plain.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await plain.return(undefined);
    },
  });
  return encrypterFor(recipient).encrypt(source);
}

/** What a file is called and says, for the account alone. Base64. */
export async function sealDescription(description: SealedDescription, recipient: string): Promise<string> {
  const sealed = await encrypterFor(recipient).encrypt(JSON.stringify(description));
  return Buffer.from(sealed).toString('base64');
}
