import { join } from 'node:path';
import { managedNetworkOf } from '../../../src/app/managed-network.ts';
import type { ManagedOptions } from '../../../src/backend/managed/managed.ts';
import type { Logger } from '../../../src/core/ports/host.ts';
import { createSignIn } from '../../../src/managed/oauth/create-sign-in.ts';
import { createManagedRuntime } from '../../../src/managed/runtime.ts';
import { createValidators } from '../../../src/managed/validate.ts';

/** Managed servers as the product composes them, with their key in a folder of the test. */
export function managedIn(folder: string, log: Logger): ManagedOptions {
  return {
    keyFile: join(folder, 'secrets.key'),
    validatorOf: createValidators(),
    create({ vault, onChange, find }) {
      const { env } = process;
      const deps = {
        now: () => new Date(),
        env,
        log,
        network: managedNetworkOf(env),
        vault,
        version: '1.2.3',
      };
      return {
        runtime: createManagedRuntime({ ...deps, random: Math.random, onChange }),
        signIn: createSignIn({ ...deps, find }),
      };
    },
  };
}
