import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { SessionContext } from './context.ts';

const RETRY_MS = 1000;
const TRIES_AT_END = 2;

/** Runs a write that must not be lost as one transaction, again and again while the disk refuses it. */
export async function untilStored(
  { journal, log, isEnding }: Pick<SessionContext, 'journal' | 'log' | 'isEnding'>,
  work: () => void,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return journal.transaction(work);
    } catch (error) {
      if (!isPassing(error) || (isEnding() && tries >= TRIES_AT_END)) throw error;
      if (tries === 1) log.error({ error }, 'the daemon cannot write its database; it keeps trying');
      await sleep(RETRY_MS);
    }
  }
}

/** The same without waiting for it. What cannot be stored in the end is only logged. */
export function storeSoon(
  context: Pick<SessionContext, 'journal' | 'log' | 'isEnding'>,
  work: () => void,
): void {
  untilStored(context, work).catch((error: unknown) => {
    context.log.error({ error }, 'something that happened in a session could not be stored');
  });
}

/** A full or failing disk and a locked file may get well again; everything else is ours. */
const isPassing = (error: unknown): boolean =>
  error instanceof KaiwuError && (error.code === 'internal' || error.code === 'conflict');
