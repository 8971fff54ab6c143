import { fileURLToPath } from 'node:url';
import type { ProcessTable } from '../core/ports/host.ts';
import type { Runtime } from '../core/ports/stores.ts';
import { type Channel, type HomePaths, resolveHome, toHomePaths } from '../local/home.ts';
import { assertNotShared } from '../local/private-folder.ts';
import { createProcessTable } from '../local/process-table.ts';
import { createRuntime } from './runtime.ts';
import { VERSION } from './version.ts';

/** What every process of Kaiwu knows of itself. */
export interface App {
  channel: Channel;
  version: string;
  paths: HomePaths;
  env: NodeJS.ProcessEnv;
  runtime: Runtime;
  processes: ProcessTable;
  /** Absolute path of this channel's command, for service units and host configurations. */
  binary: string;
  /** Starts this very program again. */
  command: readonly [node: string, binary: string];
}

/** The file that starts this very program, seen from dist/, where all bundles lie side by side. */
export const binaryOf = (channel: Channel): string =>
  fileURLToPath(new URL(`../bin/${channel}`, import.meta.url));

/** @throws state_damaged when this user has no home, or when it is a folder that others use */
export function createApp(channel: Channel, env: NodeJS.ProcessEnv): App {
  const binary = binaryOf(channel);
  const home = resolveHome({ channel, kaiwuHome: env.KAIWU_HOME, userHome: env.HOME ?? env.USERPROFILE });
  assertNotShared(home);
  return {
    channel,
    version: VERSION,
    paths: toHomePaths(home),
    env,
    runtime: createRuntime(),
    processes: createProcessTable(),
    binary,
    command: [process.execPath, binary],
  };
}
