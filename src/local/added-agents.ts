import * as z from 'zod';
import { KaiwuError } from '../core/errors.ts';
import { PERMISSION_MODES } from '../core/session.ts';
import { withFileLock } from './file-lock.ts';
import type { HomePaths } from './home.ts';
import { ensurePrivateFolder } from './private-folder.ts';
import { readStateFileNow, writeStateFile } from './state-file.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** An agent that the person added. Keys that this version does not know are kept. */
const agentSchema = z.looseObject({
  /** Looked for on the daemon's PATH, unless it is a path. */
  command: z.string().min(1).max(4096),
  args: z.array(z.string().max(4096)).max(100),
  /** Values are secrets. */
  env: z.record(z.string(), z.string()).optional(),
  /** For people. */
  name: z.string().min(1).max(100).optional(),
  /** Its own mode for each of ours. */
  modes: z.partialRecord(z.enum(PERMISSION_MODES), z.string().min(1).max(200)).optional(),
  /** Entry of the public registry that it was added from. */
  registryId: z.string().max(100).optional(),
});

const fileSchema = z.looseObject({
  version: z.literal(1),
  agents: z.record(z.string().regex(NAME), agentSchema),
});

export type AddedAgent = z.output<typeof agentSchema>;
export type AddedAgents = Record<string, AddedAgent>;

/** Agents by their ids, as the file has them now. @throws state_damaged */
export const readAddedAgents = (paths: HomePaths): AddedAgents =>
  readStateFileNow(paths.agents, fileSchema)?.agents ?? {};

/**
 * Reads, changes and writes the file under its lock. `change` edits the value in place; when it throws, nothing is written.
 * @throws state_damaged | conflict (another process holds the lock for longer than 10 s)
 */
export async function updateAddedAgents<T>(paths: HomePaths, change: (agents: AddedAgents) => T): Promise<T> {
  await ensurePrivateFolder(paths.home);
  return withFileLock(paths.agentsLock, async () => {
    const file = readStateFileNow(paths.agents, fileSchema) ?? { version: 1 as const, agents: {} };
    const result = change(file.agents);
    await writeStateFile(paths.agents, file);
    return result;
  });
}

/** @throws invalid_input */
export function assertAgentName(name: string): void {
  if (NAME.test(name)) return;
  throw new KaiwuError('invalid_input', `${JSON.stringify(name.slice(0, 60))} is no name for an agent.`, {
    hint: 'Use 1 to 40 small letters, digits, dots, hyphens or underscores, beginning with a letter or digit.',
  });
}
