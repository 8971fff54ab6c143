import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import { withFileLock } from './file-lock.ts';
import type { HomePaths } from './home.ts';
import { ensurePrivateFolder } from './private-folder.ts';
import { readStateFile, writeStateFile } from './state-file.ts';

/** A backend that this machine can talk to. Keys that this version does not know are kept. */
const profileSchema = z.looseObject({
  /** Base address, without a trailing slash. */
  url: z.string(),
  webappUrl: z.string().optional(),
  /** PEM file with the certificate authority of a private backend. */
  caFile: z.string().optional(),
});

const configSchema = z.looseObject({
  version: z.literal(1),
  machineId: z.string(),
  activeProfile: z.string().optional(),
  profiles: z.record(z.string(), profileSchema),
});

export type Profile = z.output<typeof profileSchema>;
export type Config = z.output<typeof configSchema>;

/** Undefined before the first write. @throws state_damaged */
export const readConfig = (paths: HomePaths): Promise<Config | undefined> =>
  readStateFile(paths.config, configSchema);

/**
 * Reads, changes and writes the configuration under its lock. `change` edits the value in place; when it throws,
 * nothing is written. The first write makes the machine's id.
 * @throws state_damaged | conflict (another process holds the lock for longer than 10 s)
 */
export async function updateConfig<T>(
  paths: HomePaths,
  newMachineId: () => string,
  change: (config: Config) => T,
): Promise<T> {
  await ensurePrivateFolder(paths.home);
  return withFileLock(paths.configLock, async () => {
    const stored = await readConfig(paths);
    const before = stored && JSON.stringify(stored);
    const config = stored ?? { version: 1, machineId: newMachineId(), profiles: {} };
    const result = change(config);
    if (JSON.stringify(config) !== before) await writeStateFile(paths.config, config);
    return result;
  });
}

/** This machine's id; made and kept at the first call. */
export async function ensureMachineId(paths: HomePaths, newMachineId: () => string): Promise<string> {
  const config = await readConfig(paths);
  return config?.machineId ?? updateConfig(paths, newMachineId, ({ machineId }) => machineId);
}

/** Profile names are folder names. @throws invalid_input */
export function assertProfileName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,39}$/i.test(name)) return;
  throw new KaiwuError('invalid_input', `${JSON.stringify(name.slice(0, 60))} is not a profile name.`, {
    hint: 'Use 1 to 40 letters, digits, dots, hyphens or underscores, beginning with a letter or digit.',
  });
}
