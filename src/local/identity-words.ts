import { bech32 } from '@scure/base';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { KaiwuError } from '../core/errors.ts';

const PREFIX = 'age-secret-key-';

/** An identity of age as 24 words of BIP 39, which carry a checksum. */
export function toWords(identity: string): string {
  const { words } = bech32.decode(identity.toLowerCase() as `${string}1${string}`, 200);
  return entropyToMnemonic(bech32.fromWords(words), wordlist);
}

/** @throws invalid_input for words that are not 24 of the list, or mistyped ones */
export function fromWords(words: string): string {
  const typed = words.trim().toLowerCase().split(/\s+/);
  const unknown = typed.filter((word) => !wordlist.includes(word));
  if (unknown.length > 0) {
    const places = typed.flatMap((word, i) => (wordlist.includes(word) ? [] : [i + 1]));
    // Not the words themselves: the right ones may be among them, one letter off.
    throw wrong(`the words at place ${places.slice(0, 8).join(', ')} are not in the list`);
  }
  if (typed.length !== 24) throw wrong(`there are ${typed.length} words and must be 24`);
  try {
    const bytes = mnemonicToEntropy(typed.join(' '), wordlist);
    return bech32.encode(PREFIX, bech32.toWords(bytes), 200).toUpperCase();
  } catch {
    throw wrong('their checksum is wrong: a word is another one, or they are in another order');
  }
}

const wrong = (why: string) =>
  new KaiwuError('invalid_input', `This is no recovery phrase: ${why}.`, {
    hint: 'Type the 24 words as `kaiwu auth recovery show` gave them, with spaces between.',
  });
