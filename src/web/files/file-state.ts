import { createSignal } from 'solid-js';
import { FILES_PATH, type FileDisplay, type SealedDescription } from '../../core/file.ts';
import { fileKey, unsealText } from '../browser/file-key.ts';
import { canWriteToDisk, choosePlace, saveBlob } from '../browser/file-place.ts';
import { ConnectionLost, decryptFile, toBlob } from '../browser/file-stream.ts';
import { openBytes } from '../browser/http.ts';
import type { TextKey } from '../i18n/index.ts';

/** The display data of a tool call, where that is a file. */
export function toFileDisplay(content: unknown): FileDisplay | undefined {
  const { display } = (content ?? {}) as { display?: Partial<FileDisplay> };
  const isFile =
    display?.kind === 'file' && typeof display.fileId === 'string' && typeof display.sealed === 'string';
  return isFile ? (display as FileDisplay) : undefined;
}

export type Described = { as: 'described'; file: SealedDescription } | { as: 'no_key' | 'damaged' };

/** What only the holder of the key reads of a file. */
export async function describe({
  fileId,
  sealed,
}: Pick<FileDisplay, 'fileId' | 'sealed'>): Promise<Described> {
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

/** From here on a file is written straight to the disk, where the browser can; bytes. */
const DISK_FROM = 16 * 1024 * 1024;
/** Largest file that is held in memory, bytes. */
const MEMORY_MAX = 256 * 1024 * 1024;

/** Why a file did not come, as a text of the page. */
class NotOpened extends Error {
  readonly text: TextKey;
  constructor(text: TextKey) {
    super(text);
    this.text = text;
  }
}

/** The file itself, decrypted here: to look at, held in memory and fetched once, or to save. */
export function createFileOpener(file: SealedDescription) {
  /** Between 0 and 1, while it comes. */
  const [progress, setProgress] = createSignal<number>();
  const [problem, setProblem] = createSignal<TextKey>();
  const [saved, setSaved] = createSignal(false);
  let running: AbortController | undefined;
  let held: Promise<Blob> | undefined;

  async function load(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const identity = fileKey.get();
    if (identity === undefined) throw new NotOpened('noKeyHere');
    const path = `${FILES_PATH}/${encodeURIComponent(file.fileId)}/content`;
    const answer = await openBytes(path, signal).catch((cause: unknown) => {
      throw new ConnectionLost('no connection', { cause });
    });
    if (answer === 404) throw new NotOpened('fileGone');
    if (typeof answer === 'number') throw new NotOpened('fileNotFetched');
    const { stream, bytes } = answer;
    setProgress(0);
    return decryptFile(stream, identity, file, (come) => setProgress(bytes === 0 ? 0 : come / bytes));
  }

  const hold = (signal: AbortSignal): Promise<Blob> => {
    if (file.sizeBytes > MEMORY_MAX) throw new NotOpened('fileTooLargeHere');
    held ??= load(signal)
      .then((stream) => toBlob(stream, file.mimeType))
      .catch((error: unknown) => {
        held = undefined;
        throw error;
      });
    return held;
  };

  /** One at a time; says what went wrong. */
  async function run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (running !== undefined) return undefined;
    const control = new AbortController();
    running = control;
    setProblem(undefined);
    setSaved(false);
    try {
      return await work(control.signal);
    } catch (error) {
      setProblem(toText(error, control.signal));
      return undefined;
    } finally {
      running = undefined;
      setProgress(undefined);
    }
  }

  async function save(signal: AbortSignal): Promise<void> {
    if (held === undefined && file.sizeBytes >= DISK_FROM && canWriteToDisk()) {
      const place = await choosePlace(file.fileName);
      if (place === undefined) return;
      try {
        await place.fill(await load(signal), signal);
      } catch (error) {
        await place.giveUp();
        throw error;
      }
    } else saveBlob(await hold(signal), file.fileName);
    setSaved(true);
  }

  return {
    progress,
    problem,
    saved,
    open: () => run(hold),
    save: () => run(save),
    cancel: () => running?.abort(),
  };
}

function toText(error: unknown, signal: AbortSignal): TextKey {
  if (signal.aborted) return 'downloadCanceled';
  if (error instanceof NotOpened) return error.text;
  if (error instanceof ConnectionLost) return 'fileNotFetched';
  // The disk is full, or the person took the right to write there back.
  if (error instanceof DOMException) return 'fileNotWritten';
  return 'fileDamaged';
}
