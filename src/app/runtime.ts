import { createHash, randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import { customAlphabet } from 'nanoid';
import type { Runtime } from '../core/ports/stores.ts';

/** Without capitals: ids are typed, compared by eye and used in file names. */
const newTail = customAlphabet('abcdefghijklmnopqrstuvwxyz0123456789', 16);

export function createRuntime(): Runtime {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    bootMs: () => uptime() * 1000,
    newId: (prefix) => `${prefix}_${newTail()}`,
    newUuid: () => randomUUID(),
    sha256: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  };
}
