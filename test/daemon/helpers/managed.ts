import { managedNetworkOf } from '../../../src/app/managed-network.ts';
import { createRuntime } from '../../../src/app/runtime.ts';
import type { Logger } from '../../../src/core/ports/host.ts';
import type { ManagedOptions } from '../../../src/daemon/managed/options.ts';
import { createMcpServersFile } from '../../../src/local/mcp-servers-file.ts';
import { createManagedRuntime } from '../../../src/managed/runtime.ts';

/** What the product hands to a daemon, with a folder of the test's own. */
export function managedOptions(folder: string, given: string, log: Logger): ManagedOptions {
  const { now } = createRuntime();
  const env = { PATH: process.env.PATH, HOME: folder };
  return {
    createRuntime: (onChange) =>
      createManagedRuntime({
        now,
        random: Math.random,
        env,
        network: managedNetworkOf({}),
        log,
        version: '0.0.0-test',
        onChange,
      }),
    own: createMcpServersFile({ folder, given, log }),
  };
}
