import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ProcessTable } from '../core/ports/host.ts';

/** The machine's processes. A zombie counts as gone: it runs nothing and holds nothing. */
export function createProcessTable(): ProcessTable {
  return { startTime: process.platform === 'linux' ? linuxStartTime : psStartTime };
}

let bootId: string | undefined;

/** Ticks since boot, with the boot itself: after a reboot the same ticks are easily reached again. */
function linuxStartTime(pid: number): string | undefined {
  if (!isPid(pid)) return undefined;
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields ?? [];
  const ticks = fields?.[19];
  if (state === undefined || ticks === undefined || state === 'Z' || state === 'X') return undefined;
  bootId ??= readText('/proc/sys/kernel/random/boot_id')?.trim().slice(0, 8) ?? 'boot';
  return `${bootId}:${ticks}`;
}

function psStartTime(pid: number): string | undefined {
  if (!isPid(pid)) return undefined;
  try {
    const options = {
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' },
      stdio: 'pipe',
      timeout: 5000,
    } as const;
    const text = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], options)
      .toString()
      .trim();
    return text === '' || text.startsWith('Z') ? undefined : text.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

const isPid = (pid: number): boolean => Number.isSafeInteger(pid) && pid > 0;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
