import * as z from 'zod';
import type { ProcessTable } from '../core/ports/host.ts';
import { readStateFile } from './state-file.ts';

const identity = { pid: z.int().positive(), startTime: z.string().min(1), version: z.string() };

/** `profiles/<name>/daemon.json`: how to reach the daemon of this profile. Holds its control token. */
export const daemonStateSchema = z.looseObject({
  ...identity,
  port: z.int().min(1).max(65_535),
  token: z.string().min(1),
  machineId: z.string(),
  /** Backend that it is linked to. */
  url: z.string(),
});
export type DaemonState = z.output<typeof daemonStateSchema>;

/** `backend/backend.json`: a process that serves a backend at `url`. */
export const backendStateSchema = z.looseObject({ ...identity, url: z.string() });
export type BackendState = z.output<typeof backendStateSchema>;

/** `up.json`: the supervisor of this home, and whether the daemon is its child too. */
export const upStateSchema = z.looseObject({
  ...identity,
  url: z.string(),
  keepsDaemon: z.boolean().optional(),
});
export type UpState = z.output<typeof upStateSchema>;

/**
 * What a state file is worth:
 * `absent`: there is none; `stale`: its process is gone (the pid may by now be anybody's);
 * `silent`: its process lives but does not answer; `running`: it answers.
 * Only `silent` and `running` name a process of ours, so only they may be signalled.
 */
export type ProcessReport<T> = { is: 'absent' } | { is: 'stale' | 'silent' | 'running'; state: T };

/**
 * Checks a state file against the process table and the process itself.
 * @param answers asks the process over its port; false or a throw when it is not the one that the file means
 * @throws state_damaged
 */
export async function inspectProcess<S extends z.ZodType<{ pid: number; startTime: string }>>(
  path: string,
  schema: S,
  processes: ProcessTable,
  answers: (state: z.output<S>) => Promise<boolean>,
): Promise<ProcessReport<z.output<S>>> {
  const state = await readStateFile(path, schema);
  if (state === undefined) return { is: 'absent' };
  if (processes.startTime(state.pid) !== state.startTime) return { is: 'stale', state };
  const running = await answers(state).catch(() => false);
  return { is: running ? 'running' : 'silent', state };
}
