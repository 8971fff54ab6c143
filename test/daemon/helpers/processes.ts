import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of a group that run; a zombie does not. */
export function groupMembers(groupId: number): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(group) === groupId && state !== 'Z' && state !== 'X' ? [Number(entry)] : [];
    } catch {
      return [];
    }
  });
}

/** Waits until nothing of the group runs. */
export async function groupIsGone(groupId: number, withinMs = 20_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (groupMembers(groupId).length > 0) {
    if (performance.now() > until)
      throw new Error(`group ${groupId} still has ${groupMembers(groupId).join(', ')}`);
    await sleep(50);
  }
}
