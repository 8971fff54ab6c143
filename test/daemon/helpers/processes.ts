import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the kernel says of each process that runs; a zombie does not. */
function running(): { pid: number; parent: number; group: number }[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' || state === 'X'
        ? []
        : [{ pid: Number(entry), parent: Number(parent), group: Number(group) }];
    } catch {
      return [];
    }
  });
}

export const groupMembers = (groupId: number): number[] =>
  running().flatMap(({ pid, group }) => (group === groupId ? [pid] : []));

export const childrenOf = (parentId: number): number[] =>
  running().flatMap(({ pid, parent }) => (parent === parentId ? [pid] : []));

/** Waits until nothing of the group runs. */
export async function groupIsGone(groupId: number, withinMs = 20_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (groupMembers(groupId).length > 0) {
    if (performance.now() > until)
      throw new Error(`group ${groupId} still has ${groupMembers(groupId).join(', ')}`);
    await sleep(50);
  }
}
