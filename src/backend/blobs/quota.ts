import { KaiwuError } from '../../core/errors.ts';
import type { FilesUsage } from '../../core/file.ts';

/** Room for the ciphertext of the account. One process writes it, so what is on its way is counted here. */
export interface Quota {
  usage(): Promise<FilesUsage>;
  /** To be awaited before anything is taken. @throws storage_full where no byte is left */
  requireRoom(): Promise<void>;
  /** @throws storage_full; nothing is taken then */
  take(bytes: number): void;
  give(bytes: number): void;
}

export function createQuota(options: { maxBytes: number; storedBytes(): Promise<number> }): Quota {
  const { maxBytes } = options;
  let usedBytes = 0;
  let opened: Promise<void> | undefined;

  /** Learns what is stored, once. */
  const open = () => (opened ??= read());
  async function read(): Promise<void> {
    const bytes = await options.storedBytes();
    usedBytes += bytes;
  }

  function requireFor(bytes: number): void {
    if (usedBytes + bytes > maxBytes) throw full(usedBytes, maxBytes);
  }

  return {
    async usage() {
      await open();
      return { usedBytes, maxBytes };
    },
    async requireRoom() {
      await open();
      requireFor(1);
    },
    take(bytes) {
      requireFor(bytes);
      usedBytes += bytes;
    },
    give(bytes) {
      usedBytes -= bytes;
    },
  };
}

const full = (usedBytes: number, maxBytes: number) =>
  new KaiwuError(
    'storage_full',
    `The account's files take ${usedBytes} of ${maxBytes} bytes at this backend; this one does not fit.`,
    {
      hint: 'Remove files that are no longer needed: `kaiwu file list`, then `kaiwu file remove ID`, or the page Files of the app. KAIWU_FILES_TOTAL_BYTES, set for the backend, changes the room.',
      details: { usedBytes, maxBytes },
    },
  );
