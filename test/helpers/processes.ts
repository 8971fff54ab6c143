import { readdirSync, readFileSync } from 'node:fs';
import { createProcessTable } from '../../src/local/process-table.ts';

export interface Seen {
  pid: number;
  startTime: string;
  command: string;
}

const table = createProcessTable();

/** All processes below `root`, and those of its process group. Linux only; elsewhere none are seen. */
export function descendantsOf(root: number): Seen[] {
  const all = list();
  const below = new Set([root]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, parent, group } of all) {
      if (below.has(pid) || (!below.has(parent) && group !== root)) continue;
      below.add(pid);
      grew = true;
    }
  }
  below.delete(root);
  return [...below].map(seenOf).filter(({ startTime }) => startTime !== '');
}

/** A process as it is now; an empty start time when there is none. */
export const seenOf = (pid: number): Seen => ({
  pid,
  startTime: table.startTime(pid) ?? '',
  command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '),
});

export const isAlive = ({ pid, startTime }: Pick<Seen, 'pid' | 'startTime'>): boolean =>
  table.startTime(pid) === startTime;

/** Waits until none of them is left. @returns those that are, after `ms` */
export async function waitGone(seen: Seen[], ms: number): Promise<Seen[]> {
  for (const until = performance.now() + ms; ; ) {
    const left = seen.filter(isAlive);
    if (left.length === 0 || performance.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function list(): { pid: number; parent: number; group: number }[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => {
    const stat = read(`/proc/${name}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.length < 3
      ? []
      : [{ pid: Number(name), parent: Number(fields[1]), group: Number(fields[2]) }];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
