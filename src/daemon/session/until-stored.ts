import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../../core/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { SessionContext } from './context.ts';

type Context = Pick<SessionContext, 'journal' | 'log' | 'isEnding'>;

interface Write {
  work(): void;
  done(): void;
  fail(error: unknown): void;
}

const RETRY_MS = 1000;

/** Writes that the disk has refused so far, oldest first. What comes after them waits behind them. */
const backlogs = new WeakMap<Journal, Write[]>();

/** Runs a write that must not be lost as one transaction, again and again while the disk refuses it. */
export async function untilStored(context: Context, work: () => void): Promise<void> {
  const { journal, log } = context;
  const backlog = backlogs.get(journal) ?? [];
  backlogs.set(journal, backlog);
  if (backlog.length === 0) {
    try {
      return journal.transaction(work);
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.error({ error }, 'the daemon cannot write its database; it keeps trying');
    }
  }
  return new Promise((done, fail) => {
    backlog.push({ work, done, fail });
    if (backlog.length === 1) void workOff(context, backlog);
  });
}

async function workOff(context: Context, backlog: Write[]): Promise<void> {
  while (backlog.length > 0) {
    await sleep(RETRY_MS);
    for (let next = backlog[0]; next !== undefined && isOver(context, next); next = backlog[0])
      backlog.shift();
  }
}

/** Answers whether it was stored or has to be given up. */
function isOver({ journal, isEnding }: Context, { work, done, fail }: Write): boolean {
  try {
    journal.transaction(work);
    done();
    return true;
  } catch (error) {
    if (isPassing(error) && !isEnding()) return false;
    fail(error);
    return true;
  }
}

/** The same without waiting for it. What cannot be stored in the end is only logged. */
export function storeSoon(context: Context, work: () => void): void {
  untilStored(context, work).catch((error: unknown) => {
    context.log.error({ error }, 'something that happened in a session could not be stored');
  });
}

/** A full or failing disk and a locked file may get well again; everything else is ours. */
const isPassing = (error: unknown): boolean =>
  error instanceof KaiwuError && (error.code === 'internal' || error.code === 'conflict');
