import { createSignal } from 'solid-js';
import { FILES_PATH, type FileDisplay, type SealedDescription } from '../../core/file.ts';
import { decryptFile, fileKey, unsealText } from '../browser/file-key.ts';
import { openBytes } from '../browser/http.ts';

/** The display data of a tool call, where that is a file. */
export function toFileDisplay(content: unknown): FileDisplay | undefined {
  const { display } = (content ?? {}) as { display?: Partial<FileDisplay> };
  const isFile =
    display?.kind === 'file' && typeof display.fileId === 'string' && typeof display.sealed === 'string';
  return isFile ? (display as FileDisplay) : undefined;
}

export type Described = { as: 'described'; file: SealedDescription } | { as: 'no_key' | 'damaged' };

/** What only the holder of the key reads of a file. */
export async function describe({ fileId, sealed }: FileDisplay): Promise<Described> {
  const identity = fileKey.get();
  if (identity === undefined) return { as: 'no_key' };
  try {
    const file = toDescription(JSON.parse(await unsealText(sealed, identity)));
    // A description of another file says nothing about this one.
    return file?.fileId === fileId ? { as: 'described', file } : { as: 'damaged' };
  } catch {
    return { as: 'damaged' };
  }
}

const TEXTS = ['fileId', 'path', 'fileName', 'mimeType', 'sha256'];

/** Whoever has the account's recipient can seal: what is in there is still what somebody wrote. */
export function toDescription(found: unknown): SealedDescription | undefined {
  const given = (found ?? {}) as Record<string, unknown>;
  const isWhole = TEXTS.every((name) => typeof given[name] === 'string') && Number.isInteger(given.sizeBytes);
  const isMessage = given.message === undefined || typeof given.message === 'string';
  return isWhole && isMessage ? (given as unknown as SealedDescription) : undefined;
}

/** The file itself, decrypted here, once. */
export function createFileOpener(file: SealedDescription) {
  /** Between 0 and 1, while it comes. */
  const [progress, setProgress] = createSignal<number>();
  const [failed, setFailed] = createSignal(false);
  let opened: Promise<Blob> | undefined;

  async function load(): Promise<Blob> {
    const identity = fileKey.get();
    if (identity === undefined) throw new Error('no key');
    const { stream, bytes } = await openBytes(`${FILES_PATH}/${encodeURIComponent(file.fileId)}/content`);
    return decryptFile(stream, identity, file, (come) => setProgress(bytes === 0 ? 0 : come / bytes));
  }

  return {
    progress,
    failed,
    async open(): Promise<Blob | undefined> {
      setFailed(false);
      opened ??= load();
      try {
        return await opened;
      } catch {
        opened = undefined;
        setFailed(true);
        return undefined;
      } finally {
        setProgress(undefined);
      }
    },
  };
}
