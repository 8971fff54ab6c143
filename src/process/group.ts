import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that each step of ending a process group may take. */
export interface EndGraces {
  /** From the end of its input. */
  inputEndMs: number;
  /** From SIGTERM. */
  termMs: number;
}

export const END_GRACES: EndGraces = { inputEndMs: 1000, termMs: 3000 };

/** How long the kernel may take to clear away what was killed. */
const KILLED_MS = 2000;
const LOOK_EVERY_MS = 25;

/** Signals every process of a group. Answers whether there was any. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits until no process of the group is left. Answers whether that came true in time. */
export async function groupGone(groupId: number, withinMs: number): Promise<boolean> {
  const tries = Math.ceil(withinMs / LOOK_EVERY_MS);
  for (let i = 0; i <= tries; i += 1) {
    if (!signalGroup(groupId, 0)) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}

/** Asks the whole group to end, then makes it. */
export async function endGroup(groupId: number, termMs: number): Promise<void> {
  if (!signalGroup(groupId, 'SIGTERM') || (await groupGone(groupId, termMs))) return;
  signalGroup(groupId, 'SIGKILL');
  await groupGone(groupId, KILLED_MS);
}
