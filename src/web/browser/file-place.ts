/** Where a browser lets a page write to a file that its person chose: Chromium and its kin. */
type Picker = (options: {
  suggestedName?: string;
}) => Promise<FileSystemFileHandle & { remove?(): Promise<void> }>;

const picker = (): Picker | undefined =>
  (globalThis as { showSaveFilePicker?: Picker }).showSaveFilePicker?.bind(globalThis);

export const canWriteToDisk = (): boolean => picker() !== undefined;

/** A file on this machine, chosen by the person. */
export interface Place {
  /** Writes a stream there, whole or not at all, in constant memory. */
  fill(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Takes back what choosing it has made, where nothing came of it. */
  giveUp(): Promise<void>;
}

/** Asks the person where to. To be called while the browser still knows of their click. @returns undefined if they chose none */
export async function choosePlace(name: string): Promise<Place | undefined> {
  const ask = picker();
  if (ask === undefined) return undefined;
  const handle = await ask({ suggestedName: name }).catch(async (error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    // Some names it takes for dangerous; the person may still type any.
    if (error instanceof TypeError) return ask({}).catch(() => undefined);
    throw error;
  });
  if (handle === undefined) return undefined;
  return {
    async fill(stream, signal) {
      const writable = await handle.createWritable();
      // Aborted, it leaves what was there before.
      await stream.pipeTo(writable, { signal });
    },
    async giveUp() {
      // Choosing a new name has made an empty file.
      const { size } = await handle.getFile().catch(() => ({ size: 1 }));
      if (size === 0) await handle.remove?.().catch(() => undefined);
    },
  };
}

/** Has the browser save what is in its memory, as bytes whatever it says that it is. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
