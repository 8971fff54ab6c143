import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError } from '../core/errors.ts';
import type { SqliteHandle } from '../core/ports/host.ts';
import { ensurePrivateFolder } from './private-folder.ts';
import { createProcessTable } from './process-table.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Locks are SQLite files held in exclusive mode: the kernel frees them at any death of the owner, so there is no
 * stale lock to guess about. A file beside it tells people who the owner is; nothing is decided by it.
 */
export interface ProcessLock {
  /** Idempotent. */
  release(): void;
}

/** Who holds a lock, as it said of itself. */
export interface LockOwner {
  pid: number;
  startTime: string;
}

/**
 * Takes a lock for the life of this process, or until `release`.
 * @throws conflict with the owner's pid when another process has it; state_damaged when the folder cannot be used
 */
export async function acquireProcessLock(path: string): Promise<ProcessLock> {
  const handle = await tryLock(path);
  if (handle === undefined) throw lockedBy(path, readOwner(path));
  return toLock(path, handle);
}

/**
 * Runs `work` while holding a lock, waiting for it up to `timeoutMs`.
 * @throws conflict naming the owner when the time is over; and whatever `work` throws
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, timeoutMs = 10_000): Promise<T> {
  const pauseMs = 25;
  for (let waited = 0; ; ) {
    const handle = await tryLock(path);
    if (handle !== undefined) {
      const lock = toLock(path, handle);
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (waited >= timeoutMs) throw lockedBy(path, readOwner(path));
    const pause = pauseMs * (0.5 + Math.random());
    waited += pause;
    await sleep(pause);
  }
}

async function tryLock(path: string): Promise<SqliteHandle | undefined> {
  await ensurePrivateFolder(dirname(path));
  try {
    return openSqlite(path, { exclusive: true, busyTimeoutMs: 0, check: false });
  } catch (error) {
    if (error instanceof KaiwuError && error.code === 'conflict') return undefined;
    throw error;
  }
}

function toLock(path: string, handle: SqliteHandle): ProcessLock {
  let held = true;
  const owner: LockOwner = { pid: process.pid, startTime: createProcessTable().startTime(process.pid) ?? '' };
  writeFileSync(ownerPath(path), JSON.stringify(owner), { mode: 0o600 });
  return {
    release() {
      if (!held) return;
      held = false;
      rmSync(ownerPath(path), { force: true });
      handle.close();
    },
  };
}

const ownerPath = (path: string): string => `${path}.owner`;

/** Who took a lock last, as long as it has not released it. It may have died since. */
export function readOwner(path: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(ownerPath(path), 'utf8')) as LockOwner;
  } catch {
    // Between taking the lock and saying so, or just released.
    return undefined;
  }
}

function lockedBy(path: string, owner: LockOwner | undefined): KaiwuError {
  const who = owner === undefined ? 'another process' : `process ${owner.pid}`;
  return new KaiwuError('conflict', `${path} is held by ${who}.`, {
    hint: 'Wait for it to end, or stop it, and try again.',
    details: { path, ...(owner === undefined ? {} : { pid: owner.pid }) },
  });
}
