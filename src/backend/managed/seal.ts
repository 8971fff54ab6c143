import { createCipheriv, createDecipheriv } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import type { RandomBytes } from '../secrets.ts';

/** AES-256-GCM under one key of this backend. */
export interface Sealer {
  /**
   * @param of what it belongs to: opens for nothing else
   * @throws state_damaged where the key file cannot be used
   */
  seal(value: object, of: string): Promise<string>;
  /** Undefined where it does not open: the key is another one or lost, or the text was changed. */
  open(text: string, of: string): Promise<unknown>;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

/** The key file is made when the first secret is sealed, for this user alone; a damaged one is left as it is. */
export function createSealer({ path, randomBytes }: { path: string; randomBytes: RandomBytes }): Sealer {
  let making: Promise<Uint8Array> | undefined;

  async function read(): Promise<Uint8Array | undefined> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw damaged(path, `it cannot be read (${error.code})`);
    });
    if (text === undefined) return undefined;
    const key = Buffer.from(text.trim(), 'base64url');
    if (key.byteLength !== KEY_BYTES) throw damaged(path, `it does not hold ${KEY_BYTES} bytes`);
    return key;
  }

  async function make(): Promise<Uint8Array> {
    const key = randomBytes(KEY_BYTES);
    const part = `${path}.part`;
    try {
      await rm(part, { force: true });
      const handle = await open(part, 'wx', 0o600);
      try {
        await handle.writeFile(`${Buffer.from(key).toString('base64url')}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(part, path);
      await syncFolder(dirname(path));
      return key;
    } catch (cause) {
      throw damaged(path, `it cannot be made (${(cause as NodeJS.ErrnoException).code})`);
    }
  }

  /** Two that seal first at once use one key. */
  function readOrMake(): Promise<Uint8Array> {
    making ??= read()
      .then((key) => key ?? make())
      .finally(() => (making = undefined));
    return making;
  }

  return {
    async seal(value, of) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', await readOrMake(), nonce).setAAD(Buffer.from(of));
      const parts = [
        nonce,
        cipher.update(JSON.stringify(value), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ];
      return VERSION + Buffer.concat(parts).toString('base64url');
    },

    async open(text, of) {
      try {
        const key = await read();
        if (key === undefined || !text.startsWith(VERSION)) return undefined;
        const bytes = Buffer.from(text.slice(VERSION.length), 'base64url');
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(of))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const clear = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return JSON.parse(Buffer.concat([clear, decipher.final()]).toString('utf8')) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

/** Not every file system can; then the rename stands as it is. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

const damaged = (path: string, why: string): KaiwuError =>
  new KaiwuError(
    'state_damaged',
    `${path}, the key of sealed secrets, cannot be used: ${why}. It was left as it is.`,
    {
      hint: 'Repair it from a backup; or move it away, and give the secrets of the MCP servers again.',
      details: { path },
    },
  );
