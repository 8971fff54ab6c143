import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A file of the kernel's; undefined where it has gone or may not be read. */
export function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Names in a folder: none where it has gone, undefined where it may not be read. */
export function listOf(path: string): string[] | undefined {
  try {
    return readdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? undefined : [];
  }
}

/** Inode of the socket that an open file of a process is. */
export function socketOf(pid: number, file: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${file}`))?.[1];
  } catch {
    return undefined;
  }
}

/** User that a process runs as. */
export function userOf(pid: number): number | undefined {
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return uid === undefined ? undefined : Number(uid);
}
