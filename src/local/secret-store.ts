import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import { type Keyring, KeyringUnavailable } from './keyring.ts';
import { readStateFile, removeStateFile, writeStateFile } from './state-file.ts';

const markerSchema = z.looseObject({ store: z.enum(['keyring', 'file']) });
export type SecretPlace = z.output<typeof markerSchema>['store'];

export const CREDENTIAL_MODES = ['auto', 'keyring', 'file'] as const;
/** Where new secrets go: `auto` is the keyring if it proves to work, else the file. */
export type CredentialMode = (typeof CREDENTIAL_MODES)[number];

/**
 * One secret of one profile. A marker file records which store has it, and reading follows it alone, so the two stores
 * cannot disagree unseen. A store that fails is an error, never "there is none".
 */
export interface SecretStore<T> {
  /** Undefined when there is none. @throws state_damaged when the store that has it cannot be read */
  read(): Promise<T | undefined>;
  write(secret: T): Promise<SecretPlace>;
  /** Forgets it. Idempotent. */
  clear(): Promise<void>;
  /** Which store has it, undefined for none. Does not ask the keyring. */
  place(): Promise<SecretPlace | undefined>;
}

export function createSecretStore<S extends z.ZodType>(options: {
  schema: S;
  /** File that holds it where the keyring does not, and the file that says which one does. */
  file: string;
  marker: string;
  /** Name in the keyring. It names the home too: two homes on one machine share the keyring. */
  account: string;
  /** As the subject of a sentence: `The sign-in`. */
  what: string;
  mode: CredentialMode | (() => Promise<CredentialMode>);
  keyring: Keyring;
  /** Tells a person, on one line, where the secret lies when it is not in the keyring. */
  notice(line: string): void;
}): SecretStore<z.output<S>> {
  const { schema, file, marker, account, what, keyring } = options;

  async function place(): Promise<SecretPlace | undefined> {
    const marked = await readStateFile(marker, markerSchema);
    if (marked !== undefined) return marked.store;
    return (await readStateFile(file, schema)) === undefined ? undefined : 'file';
  }

  async function readKeyring(): Promise<z.output<S> | undefined> {
    const [secret] = await keyring.run([{ do: 'get', account }]).catch((error: unknown) => {
      throw unusable(error, `${what} is in the keyring, which cannot be used`);
    });
    return secret === undefined ? undefined : parseSecret(schema, secret);
  }

  async function writeKeyring(value: z.output<S>): Promise<void> {
    const secret = JSON.stringify(value);
    await keyring.run([{ do: 'probe' }, { do: 'set', account, secret }]);
  }

  /** Stores where the mode says, and answers where that was. */
  async function store(value: z.output<S>): Promise<SecretPlace> {
    const mode = typeof options.mode === 'string' ? options.mode : await options.mode();
    if (mode !== 'file') {
      try {
        await writeKeyring(value);
        return 'keyring';
      } catch (error) {
        const failure = unusable(error, 'The keyring cannot be used');
        if (mode === 'keyring') throw failure;
        const why = (error as KeyringUnavailable).message;
        options.notice(`${what} is kept in ${file}, readable by you alone, and not in a keyring: ${why}.`);
      }
    }
    await writeStateFile(file, value);
    return 'file';
  }

  async function forget(where: SecretPlace): Promise<void> {
    if (where === 'file') return removeStateFile(file);
    await keyring.run([{ do: 'delete', account }]).catch((error: unknown) => {
      const { message } = unusable(error, 'The old secret could not be removed from the keyring');
      options.notice(message);
    });
  }

  return {
    place,
    async read() {
      const where = await place();
      if (where === 'keyring') return readKeyring();
      return where && readStateFile(file, schema);
    },
    async write(value) {
      const before = await place();
      const now = await store(value);
      // The new store has it before the marker says so, and the old one keeps it until then.
      await writeStateFile(marker, { store: now });
      if (before !== undefined && before !== now) await forget(before);
      return now;
    },
    async clear() {
      const where = await place();
      if (where !== undefined) await forget(where);
      await removeStateFile(marker);
    },
  };
}

function parseSecret<S extends z.ZodType>(schema: S, secret: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(secret));
  } catch {
    // Without a cause: it would quote the secret.
    throw new KaiwuError('state_damaged', 'The keyring holds something under our name that is not ours.', {
      hint: 'Sign in again: `kaiwu auth login`.',
    });
  }
}

function unusable(error: unknown, what: string): KaiwuError {
  if (!(error instanceof KeyringUnavailable)) throw error;
  return new KaiwuError('state_damaged', `${what}: ${error.message}.`, {
    hint: 'Unlock the keyring and try again, or sign in again with KAIWU_CREDENTIAL_STORE=file set.',
  });
}
